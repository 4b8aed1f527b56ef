import { timingSafeEqual } from "node:crypto";
import type { Context as Call, MiddlewareHandler } from "hono";
import { csrf } from "hono/csrf";
import { HTTPException } from "hono/http-exception";
import { secureHeaders } from "hono/secure-headers";

/** Names that lead to this machine alone. A page elsewhere whose name was bent to 127.0.0.1 (DNS rebinding) sends its own. */
const own = new Set(["127.0.0.1", "localhost", "[::1]"]);

/** Refuses a request whose Host is not this machine's. */
export const ownHost: MiddlewareHandler = async (call, next) => {
  const host = call.req.header("host") ?? "";
  if (!own.has(host.toLowerCase().replace(/:\d+$/, "")))
    throw new HTTPException(421, { message: `This console answers on this machine alone, not as ${host}.` });
  await next();
};

/** No script, style, picture or frame from elsewhere, none in the page itself, and nobody frames it. */
export const headers: MiddlewareHandler = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", "data:"],
    connectSrc: ["'self'"],
    frameSrc: ["'self'"],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  xFrameOptions: "DENY",
  // Loopback speaks plain HTTP.
  strictTransportSecurity: false,
  // An email's frame has an origin of its own, and would be warned of.
  originAgentCluster: false,
  // Without one at all a form of ours would have no origin either.
  referrerPolicy: "same-origin",
});

/** A browser says where a request comes from: another origin's changes nothing. */
export const sameOrigin: MiddlewareHandler = csrf();

/** What changes something carries the page's token. */
export const checkToken = (call: Call, given: unknown, token: string): void => {
  const sent = Buffer.from(typeof given === "string" ? given : "");
  const known = Buffer.from(token);
  if (sent.length !== known.length || !timingSafeEqual(sent, known))
    throw new HTTPException(403, {
      message: `This form (${call.req.path}) is of another start of the console: load its page again.`,
    });
};

/**
 * For the page of an email, which a preview shows in a frame: its own styles and nothing else, no script, nothing loaded,
 * and no way out. Added before `headers`, whose say on these it takes.
 */
export const framed: MiddlewareHandler = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    styleSrc: ["'unsafe-inline'"],
    formAction: ["'none'"],
    frameAncestors: ["'self'"],
    baseUri: ["'none'"],
    sandbox: [],
  },
  xFrameOptions: "SAMEORIGIN",
  referrerPolicy: "no-referrer",
});
