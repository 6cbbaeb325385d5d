/** One stored credential: whose it is, what uses it, a test, and what can be done. */
import { Alert, Anchor, Button, Group, Modal, Paper, Stack, Text, Title } from '@mantine/core'
import { Fragment, useState } from 'react'
import { Link } from 'react-router'
import type { StoredCredential } from '../../../../schemas/types.ts'
import { credentials } from '../../../credentials-client.ts'
import { breaksWords, expiry, hostWords, kindWords, testedWords } from '../../../lib/credentials.ts'
import { useChange } from '../../../lib/use-change.ts'
import { Mark } from '../../../parts/mark.tsx'
import { useNow } from '../../../parts/use-now.ts'
import { When } from '../../../parts/when.tsx'

interface Props {
  credential: StoredCredential
  onRotate: () => void
}

export function CredentialCard({ credential, onRotate }: Props) {
  const { name, api_url, problem } = credential
  const [deleting, setDeleting] = useState(false)
  const test = useChange((_: undefined) => credentials.test(name), { failed: `Couldn’t test ${name}` })
  const said = test.data && testedWords(test.data)
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label={name}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Group gap="xs">
            <Title order={2} fz="md">
              {name}
            </Title>
            <Text size="sm" c="dimmed">
              {kindWords(credential)}, {hostWords(api_url)}
            </Text>
            <Expiry credential={credential} />
            {problem !== null && <Mark tone="bad">cannot be read</Mark>}
          </Group>
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              loading={test.isPending}
              onClick={() => test.mutate(undefined)}
              aria-label={`Test ${name}`}
            >
              Test
            </Button>
            <Button size="xs" variant="default" onClick={onRotate} aria-label={`Rotate ${name}`}>
              Rotate…
            </Button>
            <Button
              size="xs"
              variant="light"
              color="red"
              onClick={() => setDeleting(true)}
              aria-label={`Delete ${name}`}
            >
              Delete…
            </Button>
          </Group>
        </Group>
        {problem !== null && (
          <Text size="sm" c="red">
            {problem}
          </Text>
        )}
        <Facts credential={credential} />
        <div role="status">
          {said && !test.isPending && (
            <Alert color={test.data?.ok ? 'teal' : 'red'} p="xs" title={said.title}>
              <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                {said.text}
              </Text>
            </Alert>
          )}
        </div>
      </Stack>
      {deleting && <Delete credential={credential} onClose={() => setDeleting(false)} />}
    </Paper>
  )
}

function Facts({
  credential: { kind, account, rotated_at, sources, mcp_servers },
}: Pick<Props, 'credential'>) {
  return (
    <dl className="facts">
      <div>
        <dt>{kind === 'app' ? 'App' : 'Account'}</dt>
        <dd>{account ?? 'not known: test it'}</dd>
      </div>
      <div>
        <dt>{kind === 'app' ? 'Private key stored' : 'Token stored'}</dt>
        <dd>
          <When at={rotated_at} />
        </dd>
      </div>
      <div>
        <dt>Sources</dt>
        <dd>
          <Names names={sources} to="/sources" />
        </dd>
      </div>
      <div>
        <dt>MCP servers</dt>
        <dd>
          <Names names={mcp_servers} to="/mcp-servers" />
        </dd>
      </div>
    </dl>
  )
}

function Expiry({ credential }: { credential: StoredCredential }) {
  const now = useNow()
  const { expires_at: at } = credential
  if (at === null) return null
  const state = expiry(credential, now)
  const day = at.slice(0, 10)
  if (state === 'over') return <Mark tone="bad">{`expired on ${day}`}</Mark>
  return <Mark tone={state === 'soon' ? 'busy' : 'quiet'}>{`expires on ${day}`}</Mark>
}

function Names({ names, to }: { names: readonly string[]; to: string }) {
  if (names.length === 0) return 'none'
  return names.map((name, i) => (
    <Fragment key={name}>
      {i > 0 && ', '}
      <Anchor component={Link} to={`${to}/${encodeURIComponent(name)}`} size="sm" underline="always">
        {name}
      </Anchor>
    </Fragment>
  ))
}

function Delete({ credential, onClose }: { credential: StoredCredential; onClose: () => void }) {
  const { name } = credential
  const breaks = breaksWords(credential)
  const remove = useChange((_: undefined) => credentials.remove(name), {
    failed: `Couldn’t delete ${name}`,
    said: () => `The credential ${name} is gone`,
    onDone: onClose,
  })
  return (
    <Modal opened onClose={onClose} title={`Delete ${name}?`} centered>
      <Stack>
        {breaks === null ? (
          <Text size="sm">Nothing uses it. Deleted here only; GitHub still accepts it.</Text>
        ) : (
          <Alert color="orange" title="This stops what uses it">
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {breaks}
            </Text>
          </Alert>
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color="red" loading={remove.isPending} onClick={() => remove.mutate(undefined)}>
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
