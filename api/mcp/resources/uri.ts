/** Addresses of resources: svc://<kind>/…, each part percent-encoded. */

export type Address =
  | { kind: 'entity'; label: string; value: string }
  | { kind: 'incidents' }
  | { kind: 'incident'; id: string }
  | { kind: 'project'; project: string }
  | { kind: 'findings'; project: string }
  | { kind: 'firings'; project: string }
  | { kind: 'finding'; project: string; id: string }
  | { kind: 'skill'; name: string }
  | { kind: 'tool'; name: string }

const part = encodeURIComponent

export function uriOf(address: Address): string {
  switch (address.kind) {
    case 'entity':
      return `svc://entity/${part(address.label)}/${part(address.value)}`
    case 'incidents':
      return 'svc://incidents'
    case 'incident':
      return `svc://incident/${part(address.id)}`
    case 'project':
      return `svc://project/${part(address.project)}`
    case 'findings':
    case 'firings':
      return `svc://project/${part(address.project)}/${address.kind}`
    case 'finding':
      return `svc://project/${part(address.project)}/findings/${part(address.id)}`
    case 'skill':
    case 'tool':
      return `svc://${address.kind}/${part(address.name)}`
  }
}

/** @returns null for what is no address of ours. */
export function parseUri(uri: string): Address | null {
  const [kind, first, second, third, ...rest] = decoded(uri)
  if (kind === 'incidents' && first === undefined) return { kind }
  if (rest.length > 0 || first === undefined) return null
  if (kind === 'entity')
    return second === undefined || third !== undefined ? null : { kind, label: first, value: second }
  if (kind === 'incident') return second === undefined ? { kind, id: first } : null
  if (kind === 'skill' || kind === 'tool') return second === undefined ? { kind, name: first } : null
  if (kind !== 'project') return null
  if (second === undefined) return { kind: 'project', project: first }
  if (second === 'findings')
    return third === undefined
      ? { kind: 'findings', project: first }
      : { kind: 'finding', project: first, id: third }
  return second === 'firings' && third === undefined ? { kind: 'firings', project: first } : null
}

/** A label and a value of the longest there are, each of their bytes as a code. */
const URI_MAX = 8_192

function decoded(uri: string): string[] {
  if (!uri.startsWith('svc://') || uri.length > URI_MAX) return []
  try {
    const parts = uri.slice('svc://'.length).split('/').map(decodeURIComponent)
    return parts.every((one) => one !== '') ? parts : []
  } catch {
    // A percent sign that begins no code.
    return []
  }
}

export const TEMPLATES = [
  {
    uriTemplate: 'svc://entity/{label}/{value}',
    name: 'entity',
    title: 'Timeline of an entity',
    description: 'Its events of the last 24 hours across all sources. Subscribe for updates.',
    mimeType: 'text/plain',
  },
  {
    uriTemplate: 'svc://incident/{incident}',
    name: 'incident',
    title: 'An incident',
    description: 'Why it fired, what was found, what happened to it. Subscribe for updates.',
    mimeType: 'text/markdown',
  },
  {
    uriTemplate: 'svc://project/{project}',
    name: 'project',
    title: 'Project',
    description: 'What a project does, whether it is well, and what it found today.',
    mimeType: 'text/markdown',
  },
  {
    uriTemplate: 'svc://project/{project}/findings',
    name: 'findings',
    title: 'Findings of a project',
    description: 'The newest findings. Subscribe for updates.',
    mimeType: 'text/markdown',
  },
  {
    uriTemplate: 'svc://project/{project}/firings',
    name: 'firings',
    title: 'Firings of a project',
    description: 'The newest firings. Subscribe for updates, each as a message too. Not for project keys.',
    mimeType: 'text/plain',
  },
  {
    uriTemplate: 'svc://project/{project}/findings/{id}',
    name: 'finding',
    title: 'A finding',
    description: 'One finding with its whole note.',
    mimeType: 'text/markdown',
  },
  {
    uriTemplate: 'svc://skill/{name}',
    name: 'skill',
    title: 'A skill',
    description: 'Instructions that people wrote for agents.',
    mimeType: 'text/markdown',
  },
  {
    uriTemplate: 'svc://tool/{name}',
    name: 'tool',
    title: 'Schemas of a tool',
    description: 'JSON Schemas of the arguments a tool takes, with every rule, and of what it answers.',
    mimeType: 'application/json',
  },
] as const
