/** One MCP server, to register or to change. Its credential is never shown. */
import { Button, Group, PasswordInput, Select, Stack, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import type { McpProgram, McpServer, McpServerWrite } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { keptAddress } from '../../lib/drafts.ts'
import { fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { useChange } from '../../lib/use-change.ts'
import { takeTheirs, useDraft } from '../../lib/use-draft.ts'
import { useShown } from '../../lib/use-shown.ts'
import { CredentialSelect } from '../../parts/credential-select.tsx'
import { DeletePart } from '../../parts/delete-part.tsx'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Acts, Writable } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'
import { ListedTools, ServerTools, TestOutcome } from './server-tools.tsx'

export default function McpServerPage() {
  const { name } = useParams()
  return name === undefined ? (
    <>
      <PageHead title="Add MCP server" />
      <ServerForm />
    </>
  ) : (
    <ExistingServer key={name} name={name} />
  )
}

function ExistingServer({ name }: { name: string }) {
  const go = useNavigate()
  const { data, error, refetch } = useQuery({
    queryKey: dkeys.mcpServer(name),
    queryFn: () => declared.mcpServer(name),
    refetchInterval: LIST_FRESH_MS,
  })
  const { shown, round, reload } = useShown(data, refetch, 'mcp-server')
  return (
    <>
      <PageHead title={name}>
        {data && (
          <DeletePart
            kind="mcp_server"
            name={name}
            remove={declared.deleteMcpServer}
            onDone={() => void go('/mcp-servers')}
          />
        )}
      </PageHead>
      {error && <Failed what="the MCP server" error={error} onRetry={() => void refetch()} />}
      {!shown && !error && <LoadingRows />}
      {shown && <ServerForm key={round} stored={shown} onReload={() => void reload()} />}
      {shown && <ServerTools server={name} />}
    </>
  )
}

/** `${NAME}` is written as it is read: a reference, not a placeholder of ours. */
const REFERENCES = 'Optional: $' + '{NAME} of the environment.'
const GITHUB = 'github/'
/** What the address of a program of the daemon's machine begins with. */
const PROGRAM = 'stdio:'
const OVER_HTTP = 'http'

/** Saves it; a new one leads to its page, or to the project it was asked for from. */
function useSave(stored: McpServer | undefined, written: () => McpServerWrite, onSaved: () => void) {
  const project = useSearchParams()[0].get('project') ?? undefined
  const go = useNavigate()
  return useChange(
    (version: number | undefined) =>
      stored
        ? declared.updateMcpServer(written(), version)
        : declared.createMcpServer({ ...written(), ...(project ? { project } : {}) }),
    {
      said: (result) => `${result.name} is saved`,
      onDone: (result) => {
        onSaved()
        if (!stored)
          void go(project ? `/projects/${project}` : `/mcp-servers/${encodeURIComponent(result.name)}`)
      },
      quiet: true,
    },
  )
}

/** @param onReload fills the form in again from what is stored now. */
function ServerForm({ stored, onReload }: { stored?: McpServer; onReload?: () => void }) {
  const kept = useDraft({
    form: 'mcp-server',
    start: filledFrom(stored),
    version: stored?.version,
    plain: (now) => ({ ...now, value: '', url: keptAddress(now.url, stored?.url) }), // What is sent along is a secret.
  })
  const { name, url, header, credential, value } = kept.value
  const { data: programs = [] } = useQuery({ queryKey: dkeys.mcpPrograms, queryFn: declared.mcpPrograms })
  const program = url.startsWith(PROGRAM) ? url : null
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const written = () => writtenOf(kept.value, stored)
  const attempt = useChange((_: undefined) => tried(written()), { failed: 'Couldn’t test the server' })
  const change = useSave(stored, written, () => {
    kept.done()
    onReload?.()
  })
  const marks = marksOf(fieldErrors(change.error))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        change.mutate(kept.version)
      }}
    >
      <Stack maw={640}>
        <DraftRestored of={kept} />
        {!stored && (
          <TextInput
            label="Name"
            {...marks('name')}
            value={name}
            onChange={(e) => set({ name: e.currentTarget.value })}
            required
            maxLength={64}
            data-autofocus
          />
        )}
        <Writable>
          <ProgramSelect url={url} programs={programs} onChange={(next) => set({ url: next, header: '' })} />
          {program === null && <AddressFields url={url} header={header} marks={marks} onChange={set} />}
          {hasCredential(programs, url) && (
            <CredentialFields
              isProgram={program !== null}
              isStored={stored?.auth_value_configured ?? false}
              credential={credential}
              value={value}
              marks={marks}
              onChange={set}
            />
          )}
        </Writable>
        <Refusal
          title="Couldn’t save the MCP server"
          error={change.error}
          onKeepMine={() => change.mutate(undefined)}
          {...(onReload ? { onTakeTheirs: takeTheirs(kept, onReload) } : {})}
        />
        <Acts says>
          <Group>
            <Button type="submit" loading={change.isPending}>
              {stored ? 'Save' : 'Add MCP server'}
            </Button>
            {!stored && (
              <Button
                variant="default"
                loading={attempt.isPending}
                disabled={url.trim() === ''}
                onClick={() => attempt.mutate(undefined)}
              >
                Test first
              </Button>
            )}
          </Group>
        </Acts>
        <TestOutcome result={attempt.data} isPending={attempt.isPending} />
        {attempt.data?.ok && <ListedTools tools={attempt.data.tools} />}
      </Stack>
    </form>
  )
}

/** One that the operator has taken away may still have a credential. */
const hasCredential = (programs: readonly McpProgram[], url: string): boolean =>
  programs.find((one) => one.url === url)?.takes_credential ?? true

/** Over HTTP, or one of the programs that the operator lists; not there where none is. */
function ProgramSelect({
  url,
  programs,
  onChange,
}: {
  url: string
  programs: readonly McpProgram[]
  onChange: (url: string) => void
}) {
  const isProgram = url.startsWith(PROGRAM)
  if (programs.length === 0 && !isProgram) return null
  const listed = programs.map((one) => ({ value: one.url, label: `Program ${one.name}` }))
  const found = programs.find((one) => one.url === url)
  const gone = isProgram && !found ? [{ value: url, label: `Program ${url.slice(PROGRAM.length)}` }] : []
  return (
    <Select
      label="Reached"
      description={
        found
          ? `Runs where svc runs, for each run of an agent: ${found.command}`
          : isProgram
            ? 'The operator no longer lists this program: it does not run.'
            : 'By an address, or as a program that the operator of the machine lists.'
      }
      data={[{ value: OVER_HTTP, label: 'Over HTTP' }, ...listed, ...gone]}
      value={isProgram ? url : OVER_HTTP}
      onChange={(next) => next !== null && onChange(next === OVER_HTTP ? '' : next)}
      allowDeselect={false}
    />
  )
}

/** Where one over HTTP is, and the header of its credential. */
function AddressFields({
  url,
  header,
  marks,
  onChange,
}: {
  url: string
  header: string
  marks: ReturnType<typeof marksOf>
  onChange: (some: { url?: string; header?: string }) => void
}) {
  return (
    <>
      <TextInput
        label="Address"
        {...marks('url')}
        placeholder="https://mcp.example/mcp"
        value={url}
        onChange={(e) => onChange({ url: e.currentTarget.value })}
        required
      />
      <TextInput
        label="Header of the credential"
        {...marks('auth_header')}
        description="Default: Authorization"
        value={header}
        onChange={(e) => onChange({ header: e.currentTarget.value })}
      />
    </>
  )
}

/** What it is called with: a stored GitHub credential, or what is typed. */
function CredentialFields({
  isProgram,
  isStored,
  credential,
  value,
  marks,
  onChange,
}: {
  isProgram: boolean
  isStored: boolean
  credential: string
  value: string
  marks: ReturnType<typeof marksOf>
  onChange: (some: { credential?: string; value?: string }) => void
}) {
  return (
    <>
      <CredentialSelect
        label="GitHub credential"
        description={isProgram ? 'A stored token.' : 'A stored token, sent as a bearer token.'}
        value={credential}
        onChange={(next) => onChange({ credential: next })}
      />
      {!credential && (
        <CredentialInput
          {...marks('auth_value')}
          value={value}
          isStored={isStored}
          example={isProgram ? 'What the command has as {auth_value}.' : 'Such as “Bearer …”.'}
          onChange={(next) => onChange({ value: next })}
        />
      )}
    </>
  )
}

/** What is sent along; one that is stored is kept where nothing is typed. */
function CredentialInput({
  isStored,
  example,
  onChange,
  ...rest
}: {
  value: string
  isStored: boolean
  example: string
  onChange: (value: string) => void
  error: string | undefined
  'data-field': string
}) {
  return (
    <PasswordInput
      {...rest}
      label="Credential"
      description={isStored ? `Stored. Leave empty to keep. ${REFERENCES}` : `${example} ${REFERENCES}`}
      onChange={(event) => onChange(event.currentTarget.value)}
      autoComplete="off"
    />
  )
}

interface Filled {
  name: string
  url: string
  header: string
  /** Name of a GitHub credential; empty: of none. */
  credential: string
  value: string
}

const filledFrom = (stored: McpServer | undefined): Filled => ({
  name: stored?.name ?? '',
  url: stored?.url ?? '',
  header: stored?.auth_header ?? '',
  credential: githubName(stored),
  value: '',
})

/** As the API takes it. */
const writtenOf = (
  { name, url, header, credential, value }: Filled,
  stored: McpServer | undefined,
): McpServerWrite => ({
  name: name.trim(),
  url: url.trim(),
  ...(header.trim() ? { auth_header: header.trim() } : {}),
  auth_value: credential ? `credential:${GITHUB}${credential}` : value,
  ...(stored ? { headers: stored.headers } : {}),
})

/** A test before it is saved, which needs no name. */
const tried = ({ name, ...rest }: McpServerWrite) =>
  declared.tryMcpServer({ ...(name ? { name } : {}), ...rest })

/** Name of the GitHub credential it is called with; empty: of none. */
function githubName(stored: McpServer | undefined): string {
  const name = stored?.auth_credential ?? ''
  return name.startsWith(GITHUB) ? name.slice(GITHUB.length) : ''
}
