import { SegmentedMessage } from "sms-segments-calculator";
import { RefusedError } from "../errors.ts";

/** UTF-16 code units of a text: the longest `MessageBody` that AWS takes. */
const longestText = 1_600;

/** Code units of UCS-2 in each part of a text that has several (AWS End User Messaging, "SMS character limits"). */
const unitsInPart = 67;

export type Segments = { encoding: "GSM-7" | "UCS-2"; segments: number };

/**
 * In how many message parts a text is sent, each of which is paid for: 160 characters of the GSM alphabet fit in one
 * and 153 in each of several; with any other character in the text, 70 and 67.
 *
 * @param text only its first 1,600 code units count: no longer one is ever sent
 */
export function segmentsOf(text: string): Segments {
  // The library takes time by the square of the length.
  const counted = new SegmentedMessage(text.slice(0, longestText), "auto", false);
  const encoding = counted.encodingName === "GSM-7" ? "GSM-7" : "UCS-2";
  // It leaves a letter with more marks than a part can hold in one part.
  const units = Math.min(text.length, longestText);
  const least = encoding === "UCS-2" && units > 70 ? Math.ceil(units / unitsInPart) : 1;
  return { encoding, segments: Math.max(counted.segmentsCount, least) };
}

/** Above this many message parts something is wrong with a template, and every part costs. */
const mostSegments = 6;
/** Code units: no more fit in so many parts. */
const mostUnits = mostSegments * 153;
/** Code units that fit in them whatever they are: no character that takes less than a half leaves half a part empty. */
const fewUnits = mostSegments * Math.floor(unitsInPart / 2);

/** @throws RefusedError: `NoText` for one that is empty, `TooLong` for one of more than 6 message parts */
export function checkText(text: string): void {
  if (text.trim() === "") throw new RefusedError("NoText", "the template makes an empty text");
  // By its length where that will do: to count takes milliseconds.
  if (text.length <= fewUnits) return;
  if (text.length > mostUnits || segmentsOf(text).segments > mostSegments) {
    throw new RefusedError("TooLong", `the text has more than ${mostSegments} message parts`);
  }
}
