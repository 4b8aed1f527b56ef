import { stageOf, stages } from "../stack/stages.ts";
import type { Resource, Synthesis } from "./synthesis.ts";

/** Every resource with its inputs, in the order in which a notification passes them. */
export function print({ app, dev, resources, functions, outputs }: Synthesis): string {
  const lines = [
    `${app.name} in ${app.region}, stage ${app.stage}${dev ? " under sst dev" : ""}: ${resources.length} resources`,
    `removal ${app.removal}, ${app.protect ? "protected" : "not protected"}`,
  ];
  for (const [stage, found] of grouped(resources)) {
    lines.push("", `== ${stage}`);
    for (const resource of found) lines.push(...describe(resource));
  }
  lines.push("", "== functions");
  for (const { id, handler, bytes, links } of functions) {
    const size = bytes === null ? "runs on the developer's machine" : `${bytes} bytes`;
    lines.push(`${id}: ${handler}, ${size}, linked to ${Object.keys(links).join(", ") || "nothing"}`);
  }
  lines.push("", "== outputs", ...fields(outputs, ""));
  return lines.join("\n");
}

function grouped(resources: Resource[]): Map<string, Resource[]> {
  const groups = new Map<string, Resource[]>(stages.map(({ stage }) => [stage, []]));
  const tops = new Map<string, string>();
  for (const resource of resources) {
    // A child is of its parent's stage; parents are registered first.
    const top = (resource.parent && tops.get(resource.parent)) ?? resource.name;
    if (resource.type !== "pulumi:pulumi:Stack") tops.set(resource.urn, top);
    const stage = stageOf(top);
    groups.set(stage, [...(groups.get(stage) ?? []), resource]);
  }
  return new Map([...groups].filter(([, found]) => found.length > 0));
}

function describe({ type, name, inputs, custom, protect, retainOnDelete }: Resource): string[] {
  if (!custom) return [];
  const marks = [protect && "protected", retainOnDelete && "kept on removal"].filter(Boolean);
  return [`${name} (${type}${marks.map((mark) => `, ${mark}`).join("")})`, ...fields(inputs, "  ")];
}

function fields(values: Record<string, unknown>, indent: string): string[] {
  return Object.entries(values).map(([name, value]) => `${indent}${name}: ${shown(value)}`);
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
