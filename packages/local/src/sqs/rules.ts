/** Rules of a test or a drill that turn a call into a fault. The first rule that answers decides. */
export class Rules<Call, Fault> {
  readonly #rules = new Set<(call: Call) => Fault | undefined>();

  /** Adds a rule behind those that are there, and returns what takes it away again. */
  add(rule: (call: Call) => Fault | undefined): () => void {
    // A wrapper of its own, so that the same function added twice is two rules.
    const own = (call: Call) => rule(call);
    this.#rules.add(own);
    return () => void this.#rules.delete(own);
  }

  /** Takes all rules away. */
  clear(): void {
    this.#rules.clear();
  }

  match(call: Call): Fault | undefined {
    for (const rule of this.#rules) {
      const fault = rule(call);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
}
