export { audit } from "./ask/audit.ts";
export { type Channel, readChannels } from "./ask/channels.ts";
export { type Circumstances, readCircumstances } from "./ask/circumstances.ts";
export { countEvents } from "./ask/count-events.ts";
export { countStopped, type StoppedGroup } from "./ask/count-stopped.ts";
export { listDeadLettered } from "./ask/dead-lettered.ts";
export { findNotified, type Notified, type NotifiedQuestion } from "./ask/find-notified.ts";
export { type DoneAct, listActs } from "./ask/list-acts.ts";
export { type Beat, listBeats } from "./ask/list-beats.ts";
export { listDelivered } from "./ask/list-delivered.ts";
export { type Ending, listEndings } from "./ask/list-endings.ts";
export { explainMoot, type Moot, readMoot } from "./ask/moot.ts";
export type { Notification } from "./ask/notification.ts";
export { type Proven, proveDelivery } from "./ask/prove-delivery.ts";
export { type Course, type CoursePoint, readCourse } from "./ask/read-course.ts";
export { type Pulse, readPulse } from "./ask/read-pulse.ts";
export { listRefusedBodies, type RefusedBody, type RefusedChoice } from "./ask/refused-bodies.ts";
export type { RefusedEvent } from "./ask/refused-events.ts";
export { listRefusedEvents } from "./ask/refused-events.ts";
export type { Attempt, History } from "./ask/show.ts";
export { show } from "./ask/show.ts";
export type { Status } from "./ask/status.ts";
export { readStatus } from "./ask/status.ts";
export type { Stopped, StoppedFilter } from "./ask/stopped.ts";
export { listStopped } from "./ask/stopped.ts";
export { listSuppressions, type Suppression } from "./ask/suppressions.ts";
export { listUntold, type Untold } from "./ask/untold.ts";
export { hearRecipients, type Word } from "./channel/hear-recipient.ts";
export { type ChannelLimits, recordLimits } from "./channel/record-limits.ts";
export { recordRecovery } from "./channel/record-recovery.ts";
export { type Breaker, recordTrouble, type Trouble } from "./channel/record-trouble.ts";
export {
  LedgerUnavailable,
  MigrationFailed,
  NotAllowed,
  NotificationNotFound,
  Refused,
} from "./connect/errors.ts";
export { Ledger, type LedgerOptions } from "./connect/ledger.ts";
export type { Claimed, Message, Unclaimed, Verdict } from "./deliver/claim.ts";
export { claim } from "./deliver/claim.ts";
export type { Outcome as DeliveryOutcome, Result } from "./deliver/record.ts";
export { record } from "./deliver/record.ts";
export type { Proof, Weighed } from "./deliver/record-evidence.ts";
export { recordEvidence } from "./deliver/record-evidence.ts";
export { type Durations, defaultDurations } from "./durations.ts";
export { keepRefusedEvent } from "./event/keep-refused-event.ts";
export type { Recorded, ShipmentEvent } from "./event/record-events.ts";
export { recordEvents } from "./event/record-events.ts";
export { inIdOrder } from "./in-id-order.ts";
export { migrate } from "./migrate.ts";
export { cancel } from "./operate/cancel.ts";
export { closeChannel } from "./operate/close-channel.ts";
export { liftSuppression } from "./operate/lift-suppression.ts";
export { lookAtQueued } from "./operate/look-at-queued.ts";
export { markRestored } from "./operate/mark-restored.ts";
export { markRetried } from "./operate/mark-retried.ts";
export { noteAct, type Said } from "./operate/note-act.ts";
export { noteRedrive } from "./operate/note-redrive.ts";
export { openChannel } from "./operate/open-channel.ts";
export { pause } from "./operate/pause.ts";
export type { Act } from "./operate/refusal.ts";
export { type Replayed, replay } from "./operate/replay.ts";
export { resolveAsSent } from "./operate/resolve-as-sent.ts";
export { resume } from "./operate/resume.ts";
export { sendAgain } from "./operate/send-again.ts";
export type { Counted, Fates, Lateness, Point, StillOwed } from "./report/count-gap.ts";
export type { Gap, Pause, Window } from "./report/find-gaps.ts";
export { endings, type Outage, type Report, type ReportOptions, reportOutages } from "./report/report.ts";
export { type Erased, erase, type Person } from "./retain/erase.ts";
export { type Retained, type Retention, retain } from "./retain/retain.ts";
export {
  type Backfill,
  type BackfillFile,
  backfillTimers,
  beginBackfill,
  finishBackfill,
  judgeTimers,
  listBackfillRefusals,
  type Refusal,
  type Timer,
} from "./rollout/backfill.ts";
export { type Compared, type CompareFilter, compare } from "./rollout/compare.ts";
export { type Difference, listDifferences } from "./rollout/list-differences.ts";
export { markShadow } from "./rollout/mark-shadow.ts";
export { holdRows, type Moved, moveHeld, type Step } from "./rollout/move-held.ts";
export { type MerchantMode, type Modes, readModes } from "./rollout/read-modes.ts";
export { type ModeSet, setMode, setNewMerchants } from "./rollout/set-mode.ts";
export { takeShadow } from "./rollout/take-shadow.ts";
export { listRules, type RuleFilter } from "./rule/list-rules.ts";
export { listStatuses } from "./rule/list-statuses.ts";
export { retireRule } from "./rule/retire-rule.ts";
export type { Rule, RuleVersion } from "./rule/rule.ts";
export { setRule, trySettingRule } from "./rule/set-rule.ts";
export { type Trial, tryRules, type WouldTell } from "./rule/try-rules.ts";
export type { Evidence, Mode, Outcome, Role, State } from "./states.ts";
export { modes, roles, states } from "./states.ts";
export { abandonSweep } from "./sweep/abandon-sweep.ts";
export type { Beginning, ChannelLoad } from "./sweep/begin-sweep.ts";
export { beginSweep } from "./sweep/begin-sweep.ts";
export type { Finished, SweepCounts } from "./sweep/finish-sweep.ts";
export { finishSweep } from "./sweep/finish-sweep.ts";
export type { Leased, LeaseOptions, OnTheWay, Share, Slice } from "./sweep/lease.ts";
export { lease } from "./sweep/lease.ts";
export { type LeaseOwnOptions, leaseOwn } from "./sweep/lease-own.ts";
export { type Looked, type LookOptions, lookAgain } from "./sweep/look-again.ts";
export { markQueued } from "./sweep/mark-queued.ts";
export { release } from "./sweep/release.ts";
export { optOut } from "./watch/opt-out.ts";
export { registerShipment, type Shipment } from "./watch/register-shipment.ts";
export { type Subscriber, subscribe } from "./watch/subscribe.ts";
