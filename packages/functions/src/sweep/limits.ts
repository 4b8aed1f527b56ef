import { createSesClient, type Limits, readEmailLimits } from "@owed/channel";
import { type ChannelLoad, type Ledger, recordLimits } from "@owed/ledger";
import type { Settings } from "../settings.ts";

/** Asks a channel's provider what it lets us send; throws when it does not say. */
export type LimitSource = () => Promise<Limits>;

/** The providers' own answers. */
export const limitSources: ReadonlyMap<string, LimitSource> = new Map([
  [
    "email",
    () => {
      const client = createSesClient();
      return readEmailLimits(client).finally(() => client.destroy());
    },
  ],
]);

type LimitsContext = {
  ledger: Ledger;
  settings: Settings;
  sources: ReadonlyMap<string, LimitSource>;
  onError?: ((message: string, error: unknown) => void) | undefined;
};

/**
 * Reads the limits of the channels that have something due, where those known are old, and keeps them in the ledger.
 * The settings bound what a provider allows, and stand alone where it does not say. Returns the loads with what is
 * known now. A provider that does not answer stops nobody's publishing.
 */
export async function refreshLimits(
  context: LimitsContext,
  loads: readonly ChannelLoad[],
): Promise<ChannelLoad[]> {
  return Promise.all(loads.map((load) => (isOld(load, context.settings) ? refresh(context, load) : load)));
}

function isOld(
  { due, inQueue, limitsAge, quotaLeft, rate }: ChannelLoad,
  { channel, sweep }: Settings,
): boolean {
  if (due === 0) return false;
  if (limitsAge === null || limitsAge >= channel.limits) return true;
  // Near its end a quota is looked at in each sweep.
  const until = inQueue + (rate ?? sweep.queued) * channel.limits;
  return quotaLeft !== null && quotaLeft < until && limitsAge >= sweep.every / 2;
}

async function refresh(
  { ledger, settings, sources, onError }: LimitsContext,
  load: ChannelLoad,
): Promise<ChannelLoad> {
  const bounds = boundsOf(settings, load.channel);
  const source = sources.get(load.channel);
  let told: Limits = { rate: null, quota: null, used: 0 };
  let read = true;
  try {
    if (source) told = await source();
  } catch (error) {
    read = false;
    onError?.(`the provider of ${load.channel} did not tell its limits`, error);
    // What it said before is nearer to the truth than nothing, but what was left of a quota then says little now: if
    // it is still used up, the provider says so to the first worker, and the channel closes.
    if (load.limitsAge !== null)
      return load.limitsAge < settings.channel.quota ? load : { ...load, quotaLeft: null };
  }
  const rate = least(told.rate, bounds.rate);
  // Without the provider's count of what was sent, a quota would bound nothing but one beat.
  const quota = source && read ? least(told.quota, bounds.quota) : null;
  // An account that may send nothing a second has used up what it has.
  const limits = {
    rate: rate || null,
    quota: rate === 0 ? 0 : quota && whole(quota),
    used: whole(told.used),
    read,
  };
  const closed = await recordLimits(ledger, load.channel, limits, settings.channel.quota);
  const quotaLeft = limits.quota === null ? null : Math.max(0, limits.quota - limits.used);
  return { ...load, rate: limits.rate, quotaLeft, limitsAge: read ? 0 : null, closed };
}

const boundsOf = ({ limits }: Settings, channel: string) => limits[channel] ?? { rate: null, quota: null };

const least = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b);

/** Providers tell counts as floating-point numbers of any size; the ledger keeps them as integers. */
const whole = (count: number) => Math.min(Math.floor(count), 2_147_483_647);
