/** API keys: made, shown once, revoked. */
import { Alert, Badge, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { Link } from 'react-router'
import type { Key } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { notifications } from '../../lib/notices.ts'
import { LongList } from '../../parts/long-list.tsx'
import { Acts } from '../../parts/may.tsx'
import { Cell, Row, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { NewKey } from './new-key.tsx'

/** The list of keys with what makes one. @param head of the list, with that action in it */
export function ApiKeys({ head }: { head: (action: ReactNode) => ReactNode }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: keys.apiKeys,
    queryFn: api.keys,
    refetchInterval: 15_000,
  })
  const [making, setMaking] = useState(false)
  return (
    <>
      {head(
        <Acts>
          <Button leftSection={<Plus size={16} aria-hidden />} onClick={() => setMaking(true)}>
            New key
          </Button>
        </Acts>,
      )}
      <NewKey opened={making} onClose={() => setMaking(false)} />
      {isPending && <LoadingRows />}
      {error && <Failed what="API keys" error={error} onRetry={() => void refetch()} />}
      {data && (
        <Stack>
          {!data.enforced && (
            <Alert color="indigo" title="This instance is open">
              Keys can be made, but nothing checks them: whoever reaches the daemon may do everything. Start
              it with <code>--auth</code> to require a login.
            </Alert>
          )}
          {data.keys.length === 0 ? (
            <Empty title="No keys yet">
              <Text c="dimmed" maw={520}>
                A producer gets an ingest key, an agent that reads gets a read key. Each is shown once and can
                be revoked at any time.
              </Text>
            </Empty>
          ) : (
            <LongList
              all={data.keys}
              many="keys"
              by="name, prefix, scope, source or project"
              words={({ name, prefix, scopes, source, project_name }) =>
                `${name} ${prefix} ${scopes.join(' ')} ${source ?? ''} ${project_name ?? ''}`
              }
            >
              {(shown) => (
                <Rows
                  label="API keys"
                  columns={[
                    { name: 'Name', isHead: true },
                    'Begins with',
                    'Scopes',
                    'Last used',
                    'Created',
                    'State',
                  ]}
                >
                  {shown.map((key) => (
                    <KeyRow key={key.id} entry={key} />
                  ))}
                </Rows>
              )}
            </LongList>
          )}
        </Stack>
      )}
    </>
  )
}

/** The one source or project that a key is for; nothing for one of the whole instance. */
function BoundTo({ entry: { source, project, project_name, state } }: { entry: Key }) {
  if (!source && !project) return null
  const name = project_name ?? project
  return (
    <Text span size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
      {source ? 'source ' : 'project '}
      {source && state === 'active' && <Link to={`/sources/${encodeURIComponent(source)}`}>{source}</Link>}
      {!source && state === 'active' && <Link to={`/projects/${project}`}>{name}</Link>}
      {state !== 'active' && (source ?? name)}
    </Text>
  )
}

function KeyRow({ entry }: { entry: Key }) {
  const queries = useQueryClient()
  const [asking, setAsking] = useState(false)
  const revoke = useMutation({
    mutationFn: () => api.revokeKey(entry.id),
    onSuccess: (result) => notifications.show({ message: result.note }),
    onError: (error) =>
      notifications.show({ color: 'red', title: 'Couldn’t revoke the key', message: error.message }),
    onSettled: () => {
      setAsking(false)
      return queries.invalidateQueries({ queryKey: keys.apiKeys })
    },
  })
  return (
    <Row isDimmed={entry.state === 'revoked'}>
      <Cell>{entry.name}</Cell>
      <Cell isMono>{entry.prefix}</Cell>
      <Cell>
        <Group gap={4}>
          {entry.scopes.map((scope) => (
            <Badge key={scope} variant="default" tt="none" size="sm">
              {scope}
            </Badge>
          ))}
          <BoundTo entry={entry} />
        </Group>
      </Cell>
      <Cell>
        <When at={entry.last_used_at} />
      </Cell>
      <Cell>
        <When at={entry.created_at} />
      </Cell>
      <Cell>
        {entry.accepts.includes('revoke') ? (
          <Button
            size="compact-sm"
            variant="light"
            color="red"
            onClick={() => setAsking(true)}
            aria-label={`Revoke ${entry.name}`}
          >
            Revoke
          </Button>
        ) : (
          'revoked'
        )}
        <Modal opened={asking} onClose={() => setAsking(false)} title={`Revoke ${entry.name}?`} centered>
          <Stack>
            <Text size="sm">
              Its requests are refused from now on, and its live streams close. This cannot be undone.
            </Text>
            <Group justify="flex-end">
              <Button variant="default" onClick={() => setAsking(false)}>
                Cancel
              </Button>
              <Button color="red" loading={revoke.isPending} onClick={() => revoke.mutate()}>
                Revoke
              </Button>
            </Group>
          </Stack>
        </Modal>
      </Cell>
    </Row>
  )
}
