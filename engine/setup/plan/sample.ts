/** Example events of sources that events are sent to: with every field the source reads a label from. */
type Fields = Record<string, unknown>
type SampleLabel = { name: string; field?: string; type?: string }

/**
 * An example event that has the fields of all labels, the primary one above all: without it the event
 * would be nobody's. Fields that are there stay as they are.
 * @param sample of the plan; null: it has none, and a small one is made
 * @param config of the source
 */
export function completeSample(sample: Fields | null, config: Fields): Fields {
  const complete = structuredClone(sample ?? { message: 'an example event' })
  for (const { name, field, type } of (config.labels ?? []) as SampleLabel[])
    if (field !== undefined && !field.startsWith('header.'))
      fill(complete, field.split('.'), type === 'number' ? 1 : `example-${name}`)
  return complete
}

function fill(into: Fields, [head, ...rest]: readonly string[], value: unknown): void {
  if (head === undefined) return
  if (rest.length === 0) {
    const isAbsent = into[head] === undefined || into[head] === null || into[head] === ''
    if (isAbsent) into[head] = value
    return
  }
  const isInside = typeof into[head] === 'object' && into[head] !== null && !Array.isArray(into[head])
  if (into[head] !== undefined && !isInside) return
  into[head] ??= {}
  fill(into[head] as Fields, rest, value)
}
