import { Rate } from "../provider/rate.ts";
import { SmsError } from "./errors.ts";

/** What the account may send. Both can be changed at any time; null: no limit. */
export class SmsLimits {
  /** Message parts a second (user guide, "Message Parts per Second (MPS) limits"). */
  partsPerSecond: number | null;
  /** Message parts until the month's spend limit is reached. */
  monthlyParts: number | null;
  readonly #rate = new Rate();
  #sent = 0;

  constructor({ partsPerSecond = null, monthlyParts = null }: Partial<Pick<SmsLimits, LimitName>> = {}) {
    this.partsPerSecond = partsPerSecond;
    this.monthlyParts = monthlyParts;
  }

  /** Counts a text. @throws SmsError ThrottlingException, ServiceQuotaExceededException */
  take(parts: number, now = Date.now()): void {
    if (this.monthlyParts !== null && this.#sent + parts > this.monthlyParts) {
      const reason = "MONTHLY_SPEND_LIMIT_REACHED_FOR_TEXT";
      throw new SmsError("ServiceQuotaExceededException", reason, "The monthly spend limit is reached.");
    }
    if (this.partsPerSecond !== null && !this.#rate.take(parts, this.partsPerSecond, now))
      throw new SmsError("ThrottlingException", "", "Rate exceeded");
    this.#sent += parts;
  }
}

type LimitName = "partsPerSecond" | "monthlyParts";
