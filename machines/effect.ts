/**
 * How a machine declares an effect: a name and the type of its parameters. Machines carry nothing
 * out; `step` hands the effect over as a value, and what it asks for is written with the snapshot.
 */

/** @returns the declaration of an effect whose parameters are of type P and serialisable. */
export const effect =
  <P = undefined>() =>
  (_at: unknown, _params: P): void => {}
