/** What a source or a trigger may be called. */

const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

/** Said before typing. */
export const NAME_RULE = 'Shown on timelines. Can’t be renamed'

/** @returns what is wrong with it; undefined: nothing */
export function nameFault(name: string, kind = 'source'): string | undefined {
  if (name === '') return `A ${kind} needs a name`
  return NAME.test(name)
    ? undefined
    : '1 to 64 letters, digits, dots, dashes or underscores, beginning with a letter or digit'
}
