/**
 * Credentials of GitHub, stored once by name (SPEC.md, Credential (GitHub)): tokens, and apps by their private key.
 * Sources and MCP servers name them, so that rotating is one write. What is secret is sealed in its row and leaves it for
 * the way out alone.
 *
 * Beside them, of everything that is stored: which secrets this key file cannot open, after the data file was restored without its
 * secret.key, or beside another one. They are looked for in the rows themselves, so that none that
 * is used rarely is found out about only then.
 */
import { didYouMean } from '../../schemas/near-names.ts'
import type { CredentialUpdate, CredentialWrite, StoredCredential } from '../../schemas/types.ts'
import type { Clock } from '../clock.ts'
import { fail, SvcError } from '../errors.ts'
import { sealedAfter } from '../log/settings.ts'
import type { Database, StoreHandle } from '../log/store/handle.ts'
import { type CredentialLookup, githubName, type UsableCredential, WHERE } from '../model/credentials.ts'
import { isoOrNull } from '../model/units.ts'
import { placeOf, sealedParts, storedName } from '../net/address-secrets.ts'
import { privateKeyOf } from '../net/github-app.ts'
import { isSealed, type Secrets } from '../net/secrets.ts'
import { credentialOf } from '../sources/config-secrets.ts'
import { connectorOf } from '../sources/connectors/index.ts'
import { apiUrlOf, type CredentialPort, type CredentialWrites } from './credential-calls.ts'
import type { Declared } from './declared.ts'

/** What a token is made of; anything else is a slip of the clipboard, and no header carries it. */
const TOKEN = /^[\x21-\x7e]+$/

interface Credentials extends CredentialLookup {
  /** By name. */
  rows(): CredentialRow[]
  /** @throws SvcError conflict: the name is taken; invalid */
  create(body: CredentialWrite): void
  /** @returns whether it is now for another address. @throws SvcError not_found; invalid */
  change(name: string, body: CredentialUpdate): { moved: boolean }
  /** @throws SvcError not_found */
  remove(name: string): void
  /** @throws SvcError not_found; invalid where its token cannot be read here */
  require(name: string): UsableCredential & { rotatedAt: number }
  /** Notes what GitHub said of the token stored at `rotatedAt`. Times in epoch ms. */
  seen(of: { name: string; rotatedAt: number; account: string | null; expiresAt: number | null }): void
}

export function createCredentials(parts: {
  store: StoreHandle
  secrets: Secrets
  clock: Clock
}): Credentials {
  const { store, secrets, clock } = parts
  const queries = credentialQueries(store.db)
  const names = () => queries.all().map((row) => row.name)
  const requireRow = (name: string): CredentialRow =>
    queries.find(name) ??
    fail('not_found', `no credential is named ${name}${didYouMean(name, names())}`, { field: 'name' })

  function open({ name, token, app, api_url: apiUrl }: CredentialRow): UsableCredential | string {
    try {
      const secret = secrets.open(token, placeOfToken(name))
      if (app === null) return { token: secret, apiUrl }
      const { id, installation } = JSON.parse(app) as StoredApp
      return { app: { name, id, installation, privateKey: secret }, apiUrl }
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      const what = app === null ? 'token' : 'private key'
      return `the ${what} of the credential ${name} cannot be read here; enter it again under ${WHERE}`
    }
  }

  return {
    names,
    has: (name) => queries.find(name) !== undefined,
    find: (name) => {
      const row = queries.find(name)
      return row ? open(row) : `no credential is named ${name}; add it under ${WHERE}, or name another`
    },
    rows: () => queries.all(),
    create: (body) =>
      store.tx(() => {
        const { name, api_url: address } = body
        const { secret, app } = secretOf(body)
        if (queries.find(name))
          fail('conflict', `a credential named ${name} exists; rotate it, or choose another name`, {
            field: 'name',
          })
        const now = clock.now()
        queries.put({
          ...{ name, kind: app === null ? 'token' : 'app', account: null, expires_at: null },
          token: secrets.seal(secret, placeOfToken(name)),
          app: app && JSON.stringify(app),
          api_url: apiUrlOf(address),
          ...{ created_at: now, updated_at: now, rotated_at: now },
        })
      }),
    change: (name, body) =>
      store.tx(() => {
        const row = requireRow(name)
        const apiUrl = body.api_url === undefined ? row.api_url : apiUrlOf(body.api_url)
        const { field, given, app } = changedOf(row, body)
        const isNew = given !== undefined
        const sealed = sealedAfter(secrets, {
          ...{ field, place: placeOfToken(name), was: row.token, addresses: [row.api_url, apiUrl], given },
        })
        const now = clock.now()
        queries.put({
          ...row,
          app: app && JSON.stringify(app),
          api_url: apiUrl,
          token: sealed ?? row.token,
          updated_at: now,
          ...(isNew
            ? {
                rotated_at: Math.max(now, row.rotated_at + 1),
                account: null,
                expires_at: null,
              }
            : {}),
        })
        return { moved: apiUrl !== row.api_url }
      }),
    remove: (name) => {
      requireRow(name)
      queries.remove(name)
    },
    require: (name) => {
      const row = requireRow(name)
      const found = open(row)
      return typeof found === 'string' ? fail('invalid', found) : { ...found, rotatedAt: row.rotated_at }
    },
    seen: (of) => queries.seen(of),
  }
}

const placeOfToken = (name: string): string => `credentials/${name}/token`

/** @throws SvcError invalid */
function tokenOf(given: string): string {
  const token = given.trim()
  if (TOKEN.test(token)) return token
  return fail('invalid', 'token must be the token alone: letters, digits and signs without blanks', {
    field: 'token',
  })
}

/** What is not secret of an app. */
interface StoredApp {
  id: string
  /** Null: all of them. */
  installation: number | null
}

/** @throws SvcError invalid */
function keyOf(given: string): string {
  const key = privateKeyOf(given)
  if (key !== null) return key
  return fail(
    'invalid',
    'private_key must be the PEM file of the app: an RSA key of 2,048 bits or more, without a password',
    { field: 'private_key' },
  )
}

/** What a new credential holds: a token, or an app with its key. @throws SvcError invalid */
function secretOf({
  token = '',
  app_id: id = '',
  private_key: key = '',
  installation_id: installation = null,
}: CredentialWrite): { secret: string; app: StoredApp | null } {
  const [isToken, isAppGiven] = [token.trim() !== '', id !== '' || key.trim() !== '']
  if (isToken && (isAppGiven || installation !== null))
    fail('invalid', 'token and app_id exclude each other: a credential is a token or an app', {
      field: 'token',
    })
  if (isToken) return { secret: tokenOf(token), app: null }
  if (!isAppGiven)
    fail('invalid', 'token is required, or app_id and private_key of an app', { field: 'token' })
  if (id === '') fail('invalid', 'app_id is required beside private_key', { field: 'app_id' })
  if (key.trim() === '') fail('invalid', 'private_key is required beside app_id', { field: 'private_key' })
  return { secret: keyOf(key), app: { id, installation } }
}

/** What a change sets of a stored one, whose kind stays. @throws SvcError invalid */
function changedOf(
  row: CredentialRow,
  { token = '', app_id: id, private_key: key = '', installation_id: installation }: CredentialUpdate,
): { field: string; given: string | undefined; app: StoredApp | null } {
  if (row.app === null) {
    if (id !== undefined || key.trim() !== '' || installation !== undefined)
      fail('invalid', `${row.name} is a token; add another credential for an app`, { field: 'app_id' })
    return { field: 'token', given: token.trim() === '' ? undefined : tokenOf(token), app: null }
  }
  if (token.trim() !== '')
    fail('invalid', `${row.name} is an app; rotate its private_key, or add another credential`, {
      field: 'token',
    })
  const was = JSON.parse(row.app) as StoredApp
  const isNew = key.trim() !== ''
  if (id !== undefined && id !== was.id && !isNew)
    fail('invalid', 'private_key is required for another app_id: it is of the app before', {
      field: 'private_key',
    })
  return {
    field: 'private_key',
    given: isNew ? keyOf(key) : undefined,
    app: { id: id ?? was.id, installation: installation === undefined ? was.installation : installation },
  }
}

/* The SQL of stored credentials. */

/** Times are epoch ms. */
interface CredentialRow {
  name: string
  kind: string
  /** Sealed: a token, or the private key of an app. */
  token: string
  /** A StoredApp as JSON; null: it is a token. */
  app: string | null
  api_url: string
  account: string | null
  expires_at: number | null
  created_at: number
  updated_at: number
  rotated_at: number
}

/** The statements of credentials, prepared once. */
function credentialQueries(db: Database) {
  const one = db.prepare<[string], CredentialRow>('SELECT * FROM credentials WHERE name = ?')
  const all = db.prepare<[], CredentialRow>('SELECT * FROM credentials ORDER BY name')
  const put = db.prepare<[CredentialRow]>(
    `INSERT OR REPLACE INTO credentials (name, kind, token, app, api_url, account, expires_at, created_at, updated_at, rotated_at)
     VALUES (@name, @kind, @token, @app, @api_url, @account, @expires_at, @created_at, @updated_at, @rotated_at)`,
  )
  const seen = db.prepare(
    'UPDATE credentials SET account = @account, expires_at = @expiresAt WHERE name = @name AND rotated_at = @rotatedAt',
  )
  const remove = db.prepare('DELETE FROM credentials WHERE name = ?')
  return {
    find: (name: string) => one.get(name),
    all: () => all.all(),
    put: (row: CredentialRow) => void put.run(row),
    /** What GitHub said of a token, while it is that token still. */
    seen: (of: { name: string; rotatedAt: number; account: string | null; expiresAt: number | null }) =>
      void seen.run(of),
    remove: (name: string) => void remove.run(name),
  }
}

/* Stored credentials with what names them: the calls of the writer, and what a change sets off. */

const NO_USES: Uses = { sources: [], mcp_servers: [] }

/** Rows alone; nobody is asked. @param onChanged sources are due that were not. */
export function credentialWrites(parts: {
  credentials: Credentials
  declared: Declared
  onChanged(): void
}): CredentialWrites & CredentialPort {
  const { credentials, declared, onChanged } = parts
  const { store, clock, sources } = declared

  /** What reads with it is polled at once; from the beginning where it is of another GitHub now. */
  function pollAgain(name: string, moved: boolean): void {
    const { polls, queries } = sources.store
    const at = clock.now()
    for (const source of usesOf(declared).get(name)?.sources ?? []) {
      const { id, config } = queries.byName(source)!
      const follows = moved && (JSON.parse(config) as { api_url?: string }).api_url === undefined
      if (follows) polls.restart(id, at, `It reads anew, because the address of ${name} changed.`)
      else polls.begin(id, at)
    }
  }

  /** In one transaction, so that no poll is missed by a crash. */
  function changing(change: () => { name: string; moved: boolean }): void {
    store.tx(() => {
      const { name, moved } = change()
      pollAgain(name, moved)
    })
    onChanged()
  }

  return {
    listCredentials: async () => {
      const uses = usesOf(declared)
      return {
        credentials: credentials.rows().map((row) => {
          const found = credentials.find(row.name)
          return presented(row, typeof found === 'string' ? found : null, uses.get(row.name) ?? NO_USES)
        }),
      }
    },
    deleteCredential: async (name) => {
      credentials.remove(name)
      return { ok: true, ...(usesOf(declared).get(name) ?? NO_USES) }
    },
    storeCredential: async (body) =>
      changing(() => {
        credentials.create(body)
        return { name: body.name, moved: false }
      }),
    changeCredential: async (name, body) => changing(() => ({ name, ...credentials.change(name, body) })),
    credentialToAsk: async (name) => credentials.require(name),
    noteCredential: async (name, rotatedAt, { login, expires_at: expires }) =>
      credentials.seen({
        ...{ name, rotatedAt, account: login ?? null },
        expiresAt: expires ? Date.parse(expires) : null,
      }),
  }
}

const presented = (row: CredentialRow, problem: string | null, uses: Uses): StoredCredential => ({
  name: row.name,
  kind: row.app === null ? 'token' : 'app',
  app_id: appOf(row)?.id ?? null,
  installation_id: appOf(row)?.installation ?? null,
  api_url: row.api_url,
  account: row.account,
  expires_at: isoOrNull(row.expires_at),
  problem,
  created_at: isoOrNull(row.created_at)!,
  updated_at: isoOrNull(row.updated_at)!,
  rotated_at: isoOrNull(row.rotated_at)!,
  ...uses,
})

const appOf = ({ app }: CredentialRow): StoredApp | null =>
  app === null ? null : (JSON.parse(app) as StoredApp)

/* What names a stored credential: what stops where it goes. */

interface Uses {
  sources: string[]
  mcp_servers: string[]
}

/** By credential, names in order; of one that nothing uses there is no entry. */
function usesOf({ kinds }: Pick<Declared, 'kinds'>): Map<string, Uses> {
  const uses = new Map<string, Uses>()
  const of = (name: string): Uses => {
    const known = uses.get(name) ?? { sources: [], mcp_servers: [] }
    uses.set(name, known)
    return known
  }
  for (const { name, doc } of kinds.source.list()) {
    const { connector, config = {} } = doc
    // Those that are pushed to are not polled, and name one for its list of repositories alone.
    const credential =
      connectorOf(connector).mode === 'poll'
        ? credentialOf(connector, config as Record<string, unknown>)
        : null
    if (credential !== null) of(credential).sources.push(name)
  }
  for (const { name, doc } of kinds.mcp_server.list()) {
    const credential = githubName(storedName(doc.auth_value))
    if (credential !== null) of(credential).mcp_servers.push(name)
  }
  for (const { sources, mcp_servers } of uses.values()) {
    sources.sort()
    mcp_servers.sort()
  }
  return uses
}

/** A sealed value, the place it is bound to, and how people find it. */
interface Place {
  sealed: string
  aad: string
  words: string
}

/** How the words for a proposal begin: its changes cannot be entered again, but be proposed again. */
const PROPOSED = 'changes of proposal '
/** Named in a sentence; the rest is counted. */
const NAMED = 10

interface UnreadableSecrets {
  /** In words, such as `signature_secret of source app`; none: all can be opened. */
  names: string[]
  /** What cannot be opened and what to do; null: all can be. */
  sentence: string | null
}

/** A list that is kept while all can be opened, and made anew while some cannot. */
export interface SealedSecrets {
  look(): UnreadableSecrets
}

/** @param keyFile path, for the sentence. */
export function watchSealedSecrets(db: Database, secrets: Secrets, keyFile: string): SealedSecrets {
  let isWell = false
  const unreadable = (): string[] => {
    // What this process seals it can open, so once all is well it stays so.
    if (isWell) return []
    const found = unreadableOf(db, secrets)
    isWell = found.length === 0
    return found
  }
  return {
    look: () => {
      const names = unreadable()
      return { names, sentence: names.length === 0 ? null : sentenceOf(names, keyFile) }
    },
  }
}

function sentenceOf(found: readonly string[], keyFile: string): string {
  const more = found.length > NAMED ? ` and ${found.length - NAMED} more` : ''
  const isAnyProposed = found.some((words) => words.startsWith(PROPOSED))
  return `${keyFile} does not open ${found.length} stored ${found.length === 1 ? 'secret' : 'secrets'}: ${found.slice(0, NAMED).join(', ')}${more}; stop the daemon and put back the secret.key they were stored with, or enter them again${isAnyProposed ? ' and decline what is proposed' : ''}`
}

function unreadableOf(db: Database, secrets: Secrets): string[] {
  return placesOf(db)
    .filter(({ sealed, aad }) => !opens(secrets, sealed, aad))
    .map(({ words }) => words)
}

function opens(secrets: Secrets, sealed: string, aad: string): boolean {
  try {
    secrets.open(sealed, aad)
    return true
  } catch (error) {
    if (!(error instanceof SvcError)) throw error
    return false
  }
}

interface DocumentRow {
  key: string | number
  name: string
  doc: string
}

function placesOf(db: Database): Place[] {
  const documents = (sql: string, place: string, noun: string): Place[] =>
    (db.prepare(sql).all() as DocumentRow[]).flatMap(({ key, name, doc }) =>
      fieldsOf(doc).map(([field, sealed]) => ({
        sealed,
        aad: `${place}/${key}/${field}`,
        words: `${field} of ${noun} ${name}`,
      })),
    )
  return [
    ...documents(
      "SELECT id AS key, name, config AS doc FROM sources WHERE state <> 'deleted' ORDER BY name",
      'sources',
      'source',
    ),
    ...['agents', 'mcp_servers'].flatMap((table) =>
      documents(
        `SELECT name AS key, name, spec AS doc FROM ${table} WHERE state <> 'deleted' ORDER BY name`,
        table,
        table === 'agents' ? 'agent' : 'MCP server',
      ),
    ),
    ...documents(
      "SELECT id AS key, name, coalesce(json_extract(spec, '$.params'), '{}') AS doc FROM projects WHERE state <> 'deleted' ORDER BY name",
      'projects',
      'project',
    ),
    ...columnsOf(db),
    ...settingsOf(db),
  ]
}

function columnsOf(db: Database): Place[] {
  const rows = db
    .prepare(
      `SELECT token AS sealed, 'credentials/' || name || '/token' AS aad, 'token of credential ' || name AS words FROM credentials
       UNION ALL SELECT url, 'subscriptions/' || id || '/url', 'address of subscription ' || name FROM subscriptions WHERE removed_at IS NULL AND masked <> ''
       UNION ALL SELECT secret, 'subscriptions/' || id || '/secret', 'secret of subscription ' || name FROM subscriptions WHERE removed_at IS NULL
       UNION ALL SELECT operations, 'proposals/' || id || '/operations', '${PROPOSED}' || id FROM proposals WHERE state = 'open'`,
    )
    .all() as Place[]
  return rows.filter(({ sealed }) => isSealed(sealed))
}

/** Keys such as model_provider:<id> are bound to settings/model_provider/<id>. */
function settingsOf(db: Database): Place[] {
  const rows = db.prepare('SELECT key, value FROM settings ORDER BY key').all() as {
    key: string
    value: string
  }[]
  return rows.flatMap(({ key, value }) => {
    const place = `settings/${key.replace(':', '/')}`
    return fieldsOf(value).map(([field, sealed]) => ({
      sealed,
      aad: `${place}/${field}`,
      words: field === 'value' ? `setting ${key}` : `${field} of setting ${key}`,
    }))
  })
}

/**
 * Sealed fields of a JSON document, those inside addresses by field and parameter; a sealed text by itself is
 * the field `value`.
 */
function fieldsOf(json: string): [field: string, sealed: string][] {
  const doc = JSON.parse(json) as unknown
  if (isSealed(doc)) return [['value', doc]]
  if (typeof doc !== 'object' || doc === null) return []
  return Object.entries(doc).flatMap(([name, value]): [string, string][] =>
    isSealed(value)
      ? [[name, value]]
      : sealedParts(value).map(({ part, sealed }) => [placeOf(name, part), sealed]),
  )
}
