export { check } from "./check.ts";
export { messages, page } from "./messages.ts";
export { overview } from "./overview.ts";
