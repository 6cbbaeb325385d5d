/**
 * Where a catalog may hold secrets: which fields those are is said by connectors, parts and templates. An
 * address is a place of its own where it has secrets in it.
 */
import type { Catalog } from '../../schemas/types.ts'
import { hasMaskedSecret, secretParts, withAddressSecrets } from '../address-secrets.ts'
import { MASK } from '../changes/plan.ts'
import { addressFields, secretFields } from '../connectors/config.ts'
import { hasConnector } from '../connectors/index.ts'
import { AGENT_SECRETS } from '../parts/agent-spec.ts'
import { MCP_SERVER_SECRETS } from '../parts/mcp-server-spec.ts'
import { isReference, type SecretNames } from '../parts/secret-fields.ts'
import type { Templates } from '../projects/templates.ts'
import type { Path } from './import-run.ts'

type Fields = Record<string, unknown>
type Section = 'sources' | 'agents' | 'mcp_servers' | 'projects'

/** A secret that is given, by the entry it is in. */
export interface SecretPlace {
  section: Section
  index: number
  name: string
  /** Within the entry, such as config, signature_secret. */
  inner: string[]
  value: string
  /** Whether the value is an address with secrets in it, and not a secret itself. */
  isAddress: boolean
}

export const pathOfPlace = ({ section, index, inner }: SecretPlace): Path => [section, index, ...inner]

/** Whether a value is a secret in plain text: neither blank, nor a reference, nor the mask of one. */
export const isPlain = (value: string): boolean => value !== '' && value !== MASK && !isReference(value)

/** Whether a place holds a secret in plain text. */
export const isPlainAt = ({ value, isAddress }: SecretPlace): boolean =>
  isAddress ? secretParts(value).length > 0 : isPlain(value)

/** The value of a place with its secret, or those in its address, put as `by` says. */
export const hiddenAt = ({ value, isAddress }: SecretPlace, by: () => string): string =>
  isAddress ? withAddressSecrets(value, by) : by()

/** Every secret field of a catalog that holds text, and every address with a secret, in the order of the file. */
export function secretPlaces(catalog: Catalog, templates: Templates): SecretPlace[] {
  const found: SecretPlace[] = []
  const look = (section: Section, fieldsOf: (entry: Fields) => [string[], SecretNames]) =>
    (catalog[section] as Fields[] | undefined)?.forEach((entry, index) => {
      const [way, { secrets, addresses }] = fieldsOf(entry)
      const holder = way.reduce<unknown>((at, step) => (at as Fields | undefined)?.[step], entry)
      for (const field of [...secrets, ...addresses]) {
        const value = (holder as Fields | undefined)?.[field]
        if (typeof value !== 'string') continue
        const isAddress = !secrets.includes(field)
        if (isAddress && secretParts(value).length === 0 && !hasMaskedSecret(value)) continue
        found.push({ section, index, name: String(entry.name), inner: [...way, field], value, isAddress })
      }
    })
  look('sources', ({ connector }) => {
    const kind = String(connector)
    const isKnown = hasConnector(kind)
    const none: readonly string[] = []
    return [
      ['config'],
      {
        secrets: isKnown ? secretFields(kind) : none,
        addresses: isKnown ? addressFields(kind) : none,
      },
    ]
  })
  look('agents', () => [[], AGENT_SECRETS])
  look('mcp_servers', () => [[], MCP_SERVER_SECRETS])
  look('projects', ({ template, params }) => {
    const secrets = templates.secretParams(String(template))
    const addresses = Object.keys((params ?? {}) as Fields).filter((name) => !secrets.includes(name))
    return [['params'], { secrets, addresses }]
  })
  return found
}

/** A copy of a catalog with these values at those places; the catalog itself when there are none. */
export function withValues(catalog: Catalog, places: readonly [SecretPlace, string][]): Catalog {
  if (places.length === 0) return catalog
  const copy = structuredClone(catalog)
  for (const [{ section, index, inner }, value] of places) {
    const entry = copy[section]![index] as Fields
    const holder = inner.slice(0, -1).reduce<Fields>((at, step) => at[step] as Fields, entry)
    holder[inner.at(-1)!] = value
  }
  return copy
}
