/** How long a reply of a model may be: what it is refused for when it is asked for more. */

interface OutputBound {
  /** Of the model's name, after its last slash. */
  prefix: string
  /** Tokens of one reply, thinking included. */
  tokens: number
}

/** Of a model that the table does not know: most that serve agents write as much. */
const UNKNOWN = 8_192

/** As the providers state them (looked at 2026-11-23). */
const BOUNDS: readonly OutputBound[] = [
  { prefix: 'claude-opus-4', tokens: 32_000 },
  { prefix: 'claude-sonnet-4', tokens: 64_000 },
  { prefix: 'claude-haiku-4', tokens: 64_000 },
  { prefix: 'claude-opus-5', tokens: 64_000 },
  { prefix: 'claude-sonnet-5', tokens: 64_000 },
  { prefix: 'claude-haiku-5', tokens: 64_000 },
  { prefix: 'claude-fable-5', tokens: 64_000 },
  { prefix: 'claude-3-5', tokens: 8_192 },
  { prefix: 'claude-3', tokens: 4_096 },
  { prefix: 'gpt-6', tokens: 128_000 },
  { prefix: 'gpt-5', tokens: 128_000 },
  { prefix: 'gpt-4.1', tokens: 32_768 },
  { prefix: 'gpt-4o', tokens: 16_384 },
  { prefix: 'gpt-4', tokens: 4_096 },
  { prefix: 'gpt-3.5', tokens: 4_096 },
]

/** Tokens that a reply of the model may have; the longest prefix of its name holds. */
export function outputBoundOf(model: string): number {
  const name = model.slice(model.lastIndexOf('/') + 1)
  let best: OutputBound | null = null
  for (const bound of BOUNDS)
    if (name.startsWith(bound.prefix) && bound.prefix.length > (best?.prefix.length ?? 0)) best = bound
  return best?.tokens ?? UNKNOWN
}

/** Room grows so much each time a reply was cut off. */
const GROWTH = 4

/**
 * Tokens to ask for after replies that were cut off. @param first asked for at first. @param cuts replies
 * cut off so far. @param most as `outputBoundOf` gives it; a first room over it is kept as it is
 */
export const roomAfter = (first: number, cuts: number, most: number): number =>
  Math.max(first, Math.min(most, first * GROWTH ** cuts))
