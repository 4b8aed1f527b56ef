declare module "*/install-lock.mjs" {
  /** Runs `work` while no other process does, `file` being the lock; `waiting` is called once when another one has it. */
  export function alone<Result>(
    file: string,
    waiting: () => void,
    work: (noteGroup: (group: number) => void) => Promise<Result>,
  ): Promise<Result>;
}
