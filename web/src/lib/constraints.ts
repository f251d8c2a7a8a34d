import { type Constraint, IN_OWN_WORDS } from "./types";

/**
 * Safety facts without repetitions: a sentence kept in the user's own words is left out if another fact of the list was
 * drawn from the same turn for the same reason.
 */
export function distinctConstraints(constraints: readonly Constraint[]): Constraint[] {
  const turns = (constraint: Constraint) => (constraint.thought.sources ?? []).map(([turn]) => turn);
  return constraints.filter((constraint) => {
    if (constraint.thought.relation !== IN_OWN_WORDS) return true;
    const own = new Set(turns(constraint));
    return !constraints.some(
      (other) =>
        other.thought.relation !== IN_OWN_WORDS &&
        other.reason === constraint.reason &&
        turns(other).some((turn) => own.has(turn)),
    );
  });
}
