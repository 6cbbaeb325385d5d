/** Conversations of before: opened, renamed, deleted. */
import { ActionIcon, Box, Button, Group, Menu, Modal, NavLink, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Ellipsis, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'react-router'
import type { AskSession } from '../../../schemas/types.ts'
import { akeys, ask } from '../../ask-client.ts'
import { api } from '../../client.ts'
import { notifications } from '../../lib/notices.ts'
import { useFirstRows } from '../../parts/long-list.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'

interface Props {
  /** Id of the one that is open. */
  current: string | undefined
  onOpen(): void
  /** The one that is open was deleted. */
  onGone(): void
}

export function SessionList({ current, onOpen, onGone }: Props) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: akeys.sessions,
    queryFn: ask.sessions,
    refetchInterval: 30_000,
  })
  const identity = useQuery({ queryKey: ['whoami'], queryFn: api.whoami, staleTime: 60_000 })
  const [asked, setAsked] = useState<{ of: AskSession; what: 'rename' | 'delete' } | null>(null)
  const { shown, more } = useFirstRows(data ?? [], 'conversations')
  if (isPending) return <LoadingRows rows={4} />
  if (error) return <Failed what="conversations" error={error} onRetry={() => void refetch()} />
  return (
    <>
      {data.length === 0 ? (
        <Text size="sm" c="dimmed">
          Conversations are kept here
          {identity.data?.id === 'open' ? ', for all who use this console.' : '. Nobody but you sees them.'}
        </Text>
      ) : (
        <ul className="ask-session-list">
          {shown.map((session) => (
            <li key={session.id}>
              <NavLink
                component={Link}
                to={`/ask/${session.id}`}
                label={session.title}
                description={session.running ? 'is being answered' : <When at={session.updated_at} />}
                active={session.id === current}
                aria-current={session.id === current ? 'page' : undefined}
                onClick={onOpen}
                noWrap
              />
              <Menu position="bottom-end">
                <Menu.Target>
                  <ActionIcon variant="subtle" color="gray" aria-label={`Rename or delete ${session.title}`}>
                    <Ellipsis size={16} aria-hidden />
                  </ActionIcon>
                </Menu.Target>
                <Menu.Dropdown>
                  <Menu.Item
                    leftSection={<Pencil size={14} aria-hidden />}
                    onClick={() => setAsked({ of: session, what: 'rename' })}
                  >
                    Rename…
                  </Menu.Item>
                  <Menu.Item
                    leftSection={<Trash2 size={14} aria-hidden />}
                    onClick={() => setAsked({ of: session, what: 'delete' })}
                  >
                    Delete…
                  </Menu.Item>
                </Menu.Dropdown>
              </Menu>
            </li>
          ))}
        </ul>
      )}
      {more && <Box p="xs">{more}</Box>}
      {asked?.what === 'rename' && <Rename session={asked.of} onClose={() => setAsked(null)} />}
      {asked?.what === 'delete' && (
        <Delete
          session={asked.of}
          onClose={() => setAsked(null)}
          onDone={() => {
            if (asked.of.id === current) onGone()
          }}
        />
      )}
    </>
  )
}

interface DialogProps {
  session: AskSession
  onClose(): void
  onDone?(): void
}

function useSessionChange(change: () => Promise<unknown>, { onClose, onDone }: Omit<DialogProps, 'session'>) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: akeys.sessions, exact: true })
      onDone?.()
      onClose()
    },
    onError: (error) =>
      notifications.show({ color: 'red', title: 'Couldn’t change the chat', message: error.message }),
  })
}

function Rename({ session, onClose }: DialogProps) {
  const [title, setTitle] = useState(session.title)
  const rename = useSessionChange(() => ask.saveSession(session.id, { title: title.trim() }), { onClose })
  return (
    <Modal opened onClose={onClose} title="Rename" centered>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (title.trim()) rename.mutate()
        }}
      >
        <Stack>
          <TextInput
            label="Title"
            value={title}
            onChange={(event) => setTitle(event.currentTarget.value)}
            maxLength={120}
            required
            data-autofocus
          />
          <Group justify="flex-end">
            <Button type="submit" loading={rename.isPending}>
              Rename
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  )
}

function Delete({ session, onClose, onDone }: DialogProps) {
  const remove = useSessionChange(() => ask.deleteSession(session.id), {
    onClose,
    ...(onDone ? { onDone } : {}),
  })
  return (
    <Modal opened onClose={onClose} title="Delete this conversation?" centered>
      <Stack>
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {session.title}: its questions and answers are deleted for good. Applied changes stay.
        </Text>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button color="red" loading={remove.isPending} onClick={() => remove.mutate()}>
            Delete
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
