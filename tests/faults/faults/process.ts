import { stages, stepsOf } from "../steps.ts";
import { counted, fault, type MeetableFault, repeat } from "./met.ts";

/** The processes that are invoked while it lasts have wall clocks that are wrong by so many seconds. */
const clock = (name: string, seconds: number): MeetableFault =>
  fault(`process: ${name}`, async ({ functions }, _draw, meet) => {
    functions.wallAhead = seconds;
    const invoke = functions.invoke.bind(functions);
    functions.invoke = (stage, event) => {
      meet();
      return invoke(stage, event);
    };
    return async () => {
      functions.invoke = invoke;
      functions.wallAhead = 0;
    };
  });

const killed = fault("process: killed at any moment", async ({ functions }, draw, meet) => {
  let left = 1 + draw(4);
  const kill = async () => {
    if (left === 0 || !(await functions.killOne())) return;
    left -= 1;
    meet();
  };
  // Idle ones are not killed, so it looks often.
  return repeat(() => 1 + draw(8), kill);
});

const frozen = counted(
  "process: stands still for ten minutes",
  ({ functions }) =>
    () =>
      functions.frozen,
  async ({ functions }, draw) => {
    // One of each function, so that one of them meets its step.
    for (const stage of stages) {
      const own = stepsOf(stage);
      const step = own[draw(own.length)];
      if (step) functions.stopNext({ how: "freeze", step, nth: 1, seconds: 600 });
    }
    return async () => functions.stopNoMore();
  },
);

export const processFaults: readonly MeetableFault[] = [
  clock("wall clocks are an hour ahead", 3600),
  clock("wall clocks are an hour behind", -3600),
  killed,
  frozen,
];
