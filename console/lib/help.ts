/** The docs as Help shows them: in groups, with their titles, and links between them as addresses of the console. */

export interface HelpPage {
  name: string
  title: string
}

/** In the order in which somebody new asks; what no group names stands in the last. */
const GROUPS: readonly { group: string; names: readonly string[] }[] = [
  { group: 'Begin', names: ['setup', 'demo', 'glossary', 'connectors', 'upgrade'] },
  { group: 'Watch', names: ['triggers', 'incidents', 'graph', 'slack'] },
  {
    group: 'Agents',
    names: ['agents', 'ask', 'models', 'mcp', 'telemetry', 'mcp-servers', 'context', 'evals', 'credentials'],
  },
  { group: 'Operate', names: ['configuration', 'health', 'metrics', 'tracing', 'storage', 'performance'] },
  { group: 'Reference', names: ['catalog', 'cli', 'api', 'errors', 'lifecycles'] },
]

/** What its first heading says, without marks of Markdown. */
export const titleOf = (name: string, text: string): string =>
  /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? name

/** @param docs texts by name @returns each text once */
export function helpGroups(docs: Readonly<Record<string, string>>): { group: string; pages: HelpPage[] }[] {
  const named = new Set(GROUPS.flatMap(({ names }) => names))
  const rest = Object.keys(docs).filter((name) => !named.has(name))
  return GROUPS.map(({ group, names }, at) => ({
    group,
    pages: [...names, ...(at === GROUPS.length - 1 ? rest : [])]
      .filter((name) => name in docs)
      .map((name) => ({ name, title: titleOf(name, docs[name]!) })),
  })).filter(({ pages }) => pages.length > 0)
}

/** Without its first heading, which is that of the page. */
export const bodyOf = (text: string): string => text.replace(/^# .+\n+/m, '')

/**
 * Where a link in a text of the docs leads.
 * @returns an address of the console for another of the docs, the same for the web and headings; null: nowhere here
 */
export function helpLink(href: string, docs: Readonly<Record<string, string>>): string | null {
  if (/^(https?:\/\/|mailto:|#)/i.test(href)) return href
  const [, name, heading = ''] = /^([a-z0-9-]+)\.md(#.*)?$/.exec(href) ?? []
  return name !== undefined && name in docs ? `/help/${name}${heading}` : null
}

/** Pages whose text has all the words, those that say them most often first. */
export function helpFound(docs: Readonly<Record<string, string>>, words: string): HelpPage[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  if (wanted.length === 0) return []
  return Object.entries(docs)
    .map(([name, text]) => {
      const [title, all] = [titleOf(name, text), text.toLowerCase()]
      const times = wanted.map(
        (word) => all.split(word).length - 1 + (title.toLowerCase().includes(word) ? 100 : 0),
      )
      return { name, title, fits: times.every((n) => n > 0), times: times.reduce((sum, n) => sum + n, 0) }
    })
    .filter(({ fits }) => fits)
    .sort((a, b) => b.times - a.times)
    .map(({ name, title }) => ({ name, title }))
}
