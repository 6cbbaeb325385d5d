/** What a file is to say: the wanted catalog, in the file's order and, where they mean it, its words. */
import type { Catalog } from '../../../schemas/types.ts'
import { type Entry, identityOf, SECTIONS, type Section } from './sections.ts'
import { settle } from './settle.ts'

/** Whether two entries of a section mean the same, however they are written. */
export type Same = (section: string, name: string, before: unknown, after: unknown) => boolean

/** @param before what the file says. @returns entries of the file in its order, then the new ones */
export function targetOf(before: Catalog, after: Catalog, same?: Same): Catalog {
  const sections = SECTIONS.map((section): [Section, unknown] => {
    const [was, is] = [entriesOf(before, section), entriesOf(after, section)]
    const isNothing = !was?.length && !is?.length
    if (isNothing && same) return [section, was]
    return [section, is && sectionOf(section, was ?? [], is, same)]
  })
  return Object.fromEntries(sections.filter(([, entries]) => entries !== undefined)) as Catalog
}

export function entriesOf(catalog: Catalog, section: Section): Entry[] | undefined {
  return catalog[section] as Entry[] | undefined
}

function sectionOf(section: Section, was: Entry[], is: Entry[], same: Same | undefined): Entry[] {
  const wanted = new Map(is.map((entry) => [identityOf(section, entry), entry]))
  const known = new Set(was.map((entry) => identityOf(section, entry)))
  const kept = was.flatMap((entry) => {
    const identity = identityOf(section, entry)
    const after = wanted.get(identity)
    if (!after) return []
    const name = typeof after.name === 'string' ? after.name : String(identity)
    const means = (candidate: unknown) => same?.(section, name, candidate, after) ?? false
    return [settle(entry, after, means) as Entry]
  })
  return [...kept, ...is.filter((entry) => !known.has(identityOf(section, entry)))]
}
