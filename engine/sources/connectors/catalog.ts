/** What happens to the sync of the catalog with its repository, so that triggers can watch it. */
import { oneLine, TEXT_MAX } from '../../log/ingest/label.ts'
import type { PushConnector } from './connector.ts'

interface CatalogItem {
  event: string
  repository: string
  commit?: string
  author?: string
  message?: string
  code?: string
  reason?: string
  creates: number
  updates: number
  deletes: number
}

export const catalog: PushConnector = {
  kind: 'catalog',
  label: 'Catalog',
  mode: 'push',
  internal: true,
  description: 'What happens to the sync of the catalog with its repository.',
  sourceType: 'catalog',
  configSchema: 'connector-catalog.json',
  provides: [
    { name: 'repository', help: 'Name of the repository.', primary: true },
    { name: 'commit', help: 'Hash of the commit.' },
    { name: 'author', help: 'Who wrote the commit.' },
    { name: 'code', help: 'Kind of what keeps the instance from being synced.' },
  ],
  compile: () => (item) => {
    const told = item.value as CatalogItem
    const { repository, author, code } = told
    return [
      {
        eventType: told.event,
        text: oneLine(textOf(told), TEXT_MAX),
        context: { ...told },
        stamped: { repository, ...(author ? { author } : {}), ...(code ? { code } : {}) },
        entityLabel: 'repository',
      },
    ]
  },
  note: () => 'Set SVC_CATALOG_REPO where svc is started.',
}

function textOf({ event, commit, author, message, reason, creates, updates, deletes }: CatalogItem): string {
  const of = commit ? ` ${commit.slice(0, 10)} of ${author}: ${message}` : ''
  const did = event === 'applied' || event === 'rolled_back' ? ` (+${creates} ~${updates} -${deletes})` : ''
  return `${event.replace('_', ' ')}${of}${did}${reason ? `; ${reason}` : ''}`
}
