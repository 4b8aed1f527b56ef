export type { Channel, Limits, SendRequest, SendResult, ThrottleScope } from "./channel.ts";
export { type EmailOptions, emailChannel } from "./email/channel.ts";
export { createSesClient, type SesClientOptions } from "./email/client.ts";
export { readEmailLimits } from "./email/limits.ts";
export { ConfigurationError, LimitsUnavailable, RefusedError } from "./errors.ts";
export { templateNames } from "./templates/locale.ts";
export { type Rendered, render } from "./templates/render.ts";
