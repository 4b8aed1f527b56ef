/** What a provider answered over HTTP; the headers' names in small letters. */
export type Answer = { status: number; headers: Record<string, string> };

/** The HTTP answer that the AWS SDK attaches to what it throws, if there was one. */
export function answerOf(error: unknown): Answer | null {
  if (!(error instanceof Error) || !("$response" in error)) return null;
  const response = error.$response;
  if (typeof response !== "object" || response === null || !("statusCode" in response)) return null;
  if (typeof response.statusCode !== "number") return null;
  const headers: Record<string, string> = {};
  if ("headers" in response && typeof response.headers === "object") {
    for (const [name, value] of Object.entries(response.headers ?? {})) headers[name] = String(value);
  }
  return { status: response.statusCode, headers };
}
