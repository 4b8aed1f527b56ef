export { segmentsOf } from "../sms/segments.ts";
export { channels, checkTemplates, type Finding, gaps } from "./check.ts";
export { type Email, renderEmail } from "./email.ts";
export { languages } from "./languages.ts";
export { templateNames, templates } from "./names.ts";
export { sampleRequest } from "./sample.ts";
export { renderSms } from "./sms.ts";
export { renderWebhook } from "./webhook.ts";
