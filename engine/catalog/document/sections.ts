/** The sections of a catalog file (SPEC.md, Catalog YAML): their order, and what names an entry. */
import type { Catalog } from '../../../schemas/types.ts'

export const SECTIONS = [
  'sources',
  'triggers',
  'agents',
  'mcp_servers',
  'projects',
  'skills',
  'wiring',
] as const satisfies readonly (keyof Catalog)[]

/** The key beside the sections that names the file. */
export const NAME_KEY = 'catalog'

export type Section = (typeof SECTIONS)[number]

export type Entry = Record<string, unknown>

export const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * What an entry is told apart by: its name, a wire's ends, and the template of the Default project,
 * which has no name. Null when the entry lacks it.
 */
export function identityOf(section: Section, entry: unknown): string | null {
  if (!isEntry(entry)) return null
  if (section !== 'wiring') {
    const template = entry.template ?? entry.recipe
    if (typeof entry.name === 'string') return entry.name
    return section === 'projects' && typeof template === 'string' ? `template ${template}` : null
  }
  const { project, wake, agent, verdict, to } = entry
  const ends =
    wake === undefined ? [project, agent, String(verdict).toLowerCase(), to] : [project, wake, agent]
  return ends.every((end) => typeof end === 'string') ? JSON.stringify(ends) : null
}

/** An entry in the words of a person. */
export function titleOf(section: Section, entry: Entry): string {
  if (section === 'wiring') return 'this wire'
  return typeof entry.name === 'string'
    ? entry.name
    : `the project of the template ${entry.template ?? entry.recipe}`
}

/** An entry of `usecases` in today's words. */
export function inTodaysWords(entry: unknown): unknown {
  if (!isEntry(entry) || entry.recipe === undefined || entry.template !== undefined) return entry
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]) => [key === 'recipe' ? 'template' : key, value]),
  )
}

/** A field of its own: `constructor` is none unless it was given. */
export function fieldOf(map: Entry, key: string): unknown {
  return Object.hasOwn(map, key) ? map[key] : undefined
}
