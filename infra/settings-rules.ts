import { connectionsEach, timeouts } from "@owed/functions/parse-settings";
import { addressOf, domainOf, isReserved } from "./sender.ts";
import type { Settings } from "./settings.ts";
import { isProduction } from "./stages.ts";

/** AWS's rule, of queues with a Lambda consumer: a batch that is slow or retried must not come a second time. */
export const visibilityOf = (stage: "ingest" | "deliver" | "feedback"): number => 6 * timeouts[stage];

/** Executions at the same time, at most: what the event sources may start, one sweep, and a deployment's migrate. */
export const executions = ({ concurrency, functions }: Settings): number =>
  concurrency.ingest + functions.deliver.concurrency + concurrency.feedback + 2;

/**
 * Connections at most. While a deployment replaces the functions, the old containers are frozen with theirs still
 * open: twice as many.
 */
export const connections = (settings: Settings): number => 2 * connectionsEach * executions(settings);

/** Functions whose workers could not all connect while a deployment replaces them. */
function cappedTooLow({ concurrency, functions, database }: Settings): string[] {
  const workers = { ...concurrency, deliver: functions.deliver.concurrency };
  return (["ingest", "deliver", "feedback"] as const).filter(
    (stage) => 2 * connectionsEach * workers[stage] > database.roleConnections[stage],
  );
}

/** What must be left to others than the sweep when an execution is reserved for it (AWS Lambda quotas). */
const leastUnreserved = 100;

/** What has to fit together: whether it does not, and what to say then. */
const rules: [(settings: Settings, stage: string) => boolean, (settings: Settings) => string][] = [
  [
    ({ webhooks, network }) => webhooks && !network.nat,
    () => "network.nat: webhooks need it; leave it out, or give true",
  ],
  [
    ({ network }) => !network.nat && !network.endpoints,
    () =>
      "network.endpoints: without NAT the functions reach SQS and SES by them alone; leave it out, or give true",
  ],
  [
    ({ network }) => !network.bastion.every(isNarrow),
    () => "network.bastion: name networks of /16 or narrower, such as 203.0.113.0/28; never everybody's",
  ],
  [
    ({ database }) => !database.clients.networks.every((cidr) => isNarrow(cidr) && isPeers(cidr)),
    () =>
      "database.clients.networks: name private networks of /16 or narrower, such as 10.20.0.0/16, and not this one's own 10.0.0.0/16; never everybody's",
  ],
  [
    ({ database }) => !areAscending(database.restores.map(({ to }) => Date.parse(to))),
    () =>
      "database.restores: each is restored from the one before it, so each must be later; add another at the end, and leave those before it as they are",
  ],
  [
    ({ hold, scheduleInDev }) => hold && scheduleInDev,
    () => "hold: it switches off the schedule that scheduleInDev asks for; take one of them away",
  ],
  [
    (settings) => executions(settings) > settings.concurrency.account,
    (settings) =>
      `concurrency.account: the functions run ${executions(settings)} at the same time (ingest, functions.deliver.concurrency, feedback, a sweep and migrate), the account allows ${settings.concurrency.account}; lower theirs, or ask AWS for more and say so here`,
  ],
  [
    ({ concurrency }) => concurrency.reserveSweep && concurrency.account - 1 < leastUnreserved,
    () =>
      `concurrency.reserveSweep: AWS wants ${leastUnreserved} left unreserved; leave it off in so small an account`,
  ],
  [
    ({ functions }) => functions.deliver.concurrency < 2,
    () => "functions.deliver.concurrency: SQS event sources take 2 at least",
  ],
  [
    (settings) => connections(settings) >= 0.8 * settings.database.maxConnections,
    (settings) =>
      `database.maxConnections: the functions hold up to ${connections(settings)} connections while a deployment replaces them, which must be under 80 % of it; raise it and the instance, or lower the concurrency`,
  ],
  [
    (settings) => cappedTooLow(settings).length > 0,
    (settings) =>
      `database.roleConnections: ${cappedTooLow(settings).join(" and ")} may open more connections than its role's cap; raise the cap by ALTER ROLE owed_… CONNECTION LIMIT and say so here, or lower the concurrency`,
  ],
  [
    ({ database }) => database.mostStorage < 1.1 * database.storage,
    () => "database.mostStorage: RDS wants it 10 % above database.storage at least",
  ],
  [
    ({ functions }) => functions.sweep.every % 60 !== 0,
    () => "functions.sweep.every: EventBridge Scheduler beats in whole minutes; give a multiple of 60",
  ],
  [
    ({ functions }) => functions.durations.heartbeat < timeouts.sweep,
    () => `functions.durations.heartbeat: it must be ${timeouts.sweep} at least, the sweep's timeout`,
  ],
  [
    ({ functions }) => functions.durations.sendLease >= visibilityOf("deliver"),
    () =>
      `functions.durations.sendLease: it must be less than ${visibilityOf("deliver")}, the notification queue's visibility timeout`,
  ],
  [
    ({ functions }) => functions.durations.settle <= visibilityOf("feedback"),
    () =>
      `functions.durations.settle: it must be more than ${visibilityOf("feedback")}, the feedback queue's visibility timeout`,
  ],
  [
    ({ email }, stage) => isProduction(stage) && isReserved(domainOf(email.from)),
    () =>
      'email.from: production needs a sender of your own domain, which no one of RFC 2606 is; give one, such as OWED_SETTINGS=\'{"email":{"from":"Shop <notify@mail.your-domain>"}}\'',
  ],
  [
    ({ email: { from, existing } }) => existing !== null && !isOf(from, existing),
    () => "email.existing: it must be the sender's address, its domain, or one above that",
  ],
  [
    ({ sms }) => sms !== null && (sms.existing === null) === (sms.number === null),
    () => "sms: give either existing, or number: texts come from one of them",
  ],
  [
    ({ sms }) => sms?.number?.kind === "TEN_DLC" && (sms.number.country !== "US" || !sms.number.registration),
    () => "sms.number: TEN_DLC is of the US alone, and needs the registration of its campaign",
  ],
  [
    ({ sms }, stage) => isProduction(stage) && sms?.number?.kind === "SIMULATOR",
    () => "sms.number.kind: a SIMULATOR reaches no phone; production needs another kind, or existing",
  ],
  [
    ({ sms }) => sms?.existing?.startsWith("sender-id/") === true && sms.twoWay,
    () => "sms.twoWay: nobody can answer a sender id; give false",
  ],
  [
    ({ database }, stage) => isProduction(stage) && database.backupDays < 7,
    () => "database.backupDays: production keeps 7 at least",
  ],
];

/** SES takes the nearest identity that it knows: the address, its domain, or a domain above. */
const isOf = (from: string, identity: string): boolean =>
  addressOf(from) === identity || `.${domainOf(from)}`.endsWith(`.${identity}`);

/** Everything that does not fit together, each with the way out. */
export const faultsOf = (stage: string, settings: Settings): string[] =>
  rules.flatMap(([fails, fault]) => (fails(settings, stage) ? [fault(settings)] : []));

/** An IPv4 network that names somebody. */
function isNarrow(cidr: string): boolean {
  const [, bits] = /^(?:\d{1,3}\.){3}\d{1,3}\/(\d{1,2})$/.exec(cidr) ?? [];
  const octets = cidr.split("/", 1)[0]?.split(".").map(Number) ?? [];
  return Number(bits) >= 16 && Number(bits) <= 32 && octets.every((octet) => octet <= 255);
}

/** A private network (RFC 1918) that can be peered with ours: AWS peers none whose addresses overlap (network.ts). */
const isPeers = (cidr: string): boolean =>
  /^(10|172\.(1[6-9]|2\d|3[01])|192\.168)\./.test(cidr) && !cidr.startsWith("10.0.");

const areAscending = (times: readonly number[]): boolean =>
  times.every((time, place) => place === 0 || time > (times[place - 1] ?? 0));
