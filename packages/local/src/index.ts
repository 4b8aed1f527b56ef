export { startEventSource } from "./event-source.ts";
export { listen, PortTaken } from "./port.ts";
export { type LocalPostgres, startPostgres } from "./postgres.ts";
export { startSchedule } from "./schedule.ts";
