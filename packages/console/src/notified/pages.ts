import type { Hono } from "hono";
import type { Context } from "../context.ts";

export function notifiedPages(_app: Hono, _context: Context): void {}
