// The languages there are: a new one is a file and a line here.
export { default as ar } from "./ar.json" with { type: "json" };
export { default as de } from "./de.json" with { type: "json" };
export { default as en } from "./en.json" with { type: "json" };
export { default as fr } from "./fr.json" with { type: "json" };
