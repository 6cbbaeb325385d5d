/** Beside what says that a part is not there: where it went, and what was typed into its form, which is kept. */
import { Button, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Link, useLocation, useNavigate } from 'react-router'
import { declared } from '../declared-client.ts'
import { dropDraft, readDraft, writeDraft } from '../lib/drafts.ts'
import { CopyIcon } from '../parts/copy.tsx'
import { menuPageOf } from '../parts/pages.ts'

/** Parts by the page that lists them: their kind, and their form, which makes new ones, too. */
const PARTS: Readonly<Record<string, { kind: string; form: string; isMade?: true }>> = {
  sources: { kind: 'source', form: 'source' },
  triggers: { kind: 'trigger', form: 'trigger', isMade: true },
  agents: { kind: 'agent', form: 'agent', isMade: true },
  'mcp-servers': { kind: 'mcp_server', form: 'mcp-server', isMade: true },
  skills: { kind: 'skill', form: 'skill', isMade: true },
  entities: { kind: 'entity', form: 'entity', isMade: true },
}

export function Gone() {
  const { pathname } = useLocation()
  const list = menuPageOf(pathname)
  const [, page = '', at = ''] = pathname.split('/')
  const part = PARTS[page]
  return (
    <Stack mt="sm" gap="sm" align="flex-start">
      {part && <GonePart key={pathname} page={page} name={decodeURIComponent(at)} {...part} />}
      {list && list.to !== pathname && (
        <Button size="xs" variant="default" component={Link} to={list.to}>
          Go to {list.label}
        </Button>
      )}
    </Stack>
  )
}

/** @param name that it had */
function GonePart({
  page,
  name,
  kind,
  form,
  isMade,
}: (typeof PARTS)[string] & { page: string; name: string }) {
  const go = useNavigate()
  const place = `/${page}/${encodeURIComponent(name)}`
  const [typed, setTyped] = useState(() => readDraft<object>(window.localStorage, `${place}#${form}`))
  const { data } = useQuery({
    queryKey: ['gone', kind, name],
    // Of all of its kind: what was renamed has its history under its name now.
    queryFn: () => declared.changes({ kind }),
  })
  const last = data?.change_sets
    .flatMap(({ changes }) => changes)
    .find((one) => one.kind === kind && (one.renamed_from === name || one.name === name))
  const now = last?.renamed_from === name ? last.name : null
  const drop = () => dropDraft(window.localStorage, `${place}#${form}`)
  /** Opens another form, with what was typed here. */
  const carry = (to: string, change: object, base: number | null) => {
    if (typed) {
      writeDraft(window.localStorage, `${to}#${form}`, {
        ...typed,
        base,
        value: { ...typed.value, ...change },
      })
      drop()
    }
    void go(typed ? `${to}${window.location.search}` : to)
  }
  return (
    <>
      {last?.action === 'delete' && (
        <Text size="sm">
          {name} was deleted, and is here again once that is undone under{' '}
          <Link to="/changes?tab=history">Changes</Link>.
        </Text>
      )}
      {now && (
        <Text size="sm">
          {name} is called {now} now.
        </Text>
      )}
      {typed && (
        <>
          <Group gap={4}>
            <Text size="sm">What was typed here is not saved, and kept in this browser:</Text>
            <CopyIcon value={wordsOf(typed.value)} label="Copy what was typed" />
          </Group>
          <Code block mah={320} w="100%" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            {wordsOf(typed.value)}
          </Code>
        </>
      )}
      {(now || typed) && (
        <Group gap="xs">
          {now && (
            <Button
              size="xs"
              onClick={() => carry(`/${page}/${encodeURIComponent(now)}`, {}, typed?.base ?? null)}
            >
              Go to {now}
            </Button>
          )}
          {typed && !now && isMade && (
            <Button size="xs" onClick={() => carry(`/${page}/new`, { name }, null)}>
              Make it anew
            </Button>
          )}
          {typed && (
            <Button
              size="xs"
              variant="default"
              onClick={() => {
                drop()
                setTyped(null)
              }}
            >
              Discard it
            </Button>
          )}
        </Group>
      )}
    </>
  )
}

/** Fields that hold something, one a line. */
const wordsOf = (value: object): string =>
  Object.entries(value)
    .filter(([, one]) => one !== null && one !== '' && one !== false && String(one) !== '')
    .map(([field, one]) => `${field}: ${typeof one === 'string' ? one : JSON.stringify(one)}`)
    .join('\n')
