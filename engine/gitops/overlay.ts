/** What an environment changes of an entry: maps field by field, all else whole. */
import { fieldOf, type MapValue, mapAt, plain, type Value } from './nodes.ts'

/**
 * @param patch fields that are maps go into those of the entry, null takes a field out, all else takes its place
 * @returns a new entry
 */
export function patched(entry: MapValue, patch: MapValue): MapValue {
  const fields = new Map(entry.fields)
  for (const [name, field] of patch.fields) {
    const under = fields.get(name)
    if (field.value.kind === 'scalar' && field.value.value === null) fields.delete(name)
    else if (under?.value.kind === 'map' && field.value.kind === 'map')
      fields.set(name, { ...under, value: patched(under.value, field.value) })
    else fields.set(name, field)
  }
  return mapAt(entry.spot, fields)
}

/** Whether an entry of an environment takes the part out there. */
export function isRemoval(patch: Value): boolean {
  const remove = fieldOf(patch, 'remove')
  return remove !== undefined && plain(remove) === true
}
