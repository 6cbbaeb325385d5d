/** An entity as models and people write it in one word. */
import { escapeLine } from './plain-text.ts'

/** `service=pay`, in one line: a value with a line break must not look like a line that was said by svc. */
export const entityWord = (label: string, value: string): string => escapeLine(`${label}=${value}`)

/**
 * An entity by its label and value: other tools write both as one word, such as `service=pay`, which is taken back.
 * @param label that was given beside it: then the entity is the value, whatever it looks like
 */
export function namedEntity<T extends { entity?: string | undefined; label?: string | undefined }>({
  entity,
  label,
}: T): { entity: T['entity']; label?: string } {
  if (label !== undefined) return { entity, label }
  const [, name, value] = /^([A-Za-z_][\w.-]{0,63})=(.+)$/s.exec(entity ?? '') ?? []
  return name === undefined ? { entity } : { entity: value, label: name }
}
