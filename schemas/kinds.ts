/** The kinds of what is declared, as each place calls them: in sentences, in catalog files, in addresses and commands. */
import type { Catalog, Operation } from './types.ts'

type Kind = Operation['kind']

/** The section of a catalog file, by kind. The table of a part has the same name. */
export const SECTION_OF = {
  source: 'sources',
  trigger: 'triggers',
  agent: 'agents',
  mcp_server: 'mcp_servers',
  project: 'projects',
  skill: 'skills',
  entity: 'entities',
} as const satisfies Record<Kind, keyof Catalog>

/** Whether a word is the name of a kind. */
export const isKind = (word: unknown): word is Kind =>
  typeof word === 'string' && Object.hasOwn(SECTION_OF, word)

/** The kind of what a section of a catalog file lists; undefined: wiring, which lists none. */
export const kindOfSection = (section: string): Kind | undefined =>
  (Object.keys(SECTION_OF) as Kind[]).find((kind) => SECTION_OF[kind] === section)

/** What sentences call a kind, of what is declared or of a node: `MCP server`. */
export const kindWord = (kind: string): string => (kind === 'mcp_server' ? 'MCP server' : kind)

/** The article before the word of a kind: an agent, an MCP server, a source. */
export const articleOf = (word: string): 'a' | 'an' => (/^[aeiouM]/.test(word) ? 'an' : 'a')

/** What addresses of pages and commands call those of a kind: `mcp-servers`. */
export const nounOfKind = (kind: Kind): string => SECTION_OF[kind].replace('_', '-')
