import type { Context as Call } from "hono";
import { HTTPException } from "hono/http-exception";

export const notificationPath = (id: string): string => `/notified/${id}`;

/** A notification's id from the address of a page. Throws 404 where it can't be one. */
export function readId(call: Call): string {
  const id = (call.req.param("id") ?? "").toLowerCase();
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
    throw new HTTPException(404, {
      message: "There is no such notification: an id looks like 0199d0c5-7a3e-7c1f-9b2e-3f6a51c20001.",
    });
  return id;
}
