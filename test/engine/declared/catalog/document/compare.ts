/** Catalogs compared as the file tells them apart: the order of entries in a section says nothing. */
import type { Catalog } from '../../../../../schemas/types.ts'

export function inNameOrder(catalog: Catalog): Catalog {
  const key = (entry: unknown): string => {
    const { name, project, wake, agent, verdict, to } = entry as Record<string, unknown>
    return JSON.stringify([name, project, wake, agent, verdict, to])
  }
  const sections = Object.entries(catalog).map(([section, entries]) => [
    section,
    [...(entries as unknown[])].sort((a, b) => (key(a) < key(b) ? -1 : 1)),
  ])
  return Object.fromEntries(sections) as Catalog
}
