/** Who of Slack may do what: people by user id or e-mail address, and everybody else. */
import {
  ActionIcon,
  Button,
  Group,
  NativeSelect,
  Paper,
  Stack,
  Switch,
  Text,
  TextInput,
  Title,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { X } from 'lucide-react'
import type { SlackPeople, SlackPeopleWrite } from '../../../../schemas/types.ts'
import { useChange } from '../../../lib/use-change.ts'
import { useDraft } from '../../../lib/use-draft.ts'
import { useShown } from '../../../lib/use-shown.ts'
import { DraftRestored } from '../../../parts/draft-restored.tsx'
import { Refusal } from '../../../parts/refusal.tsx'
import { SlackChannelSelect } from '../../../parts/slack-channel-select.tsx'
import { Failed, LoadingRows } from '../../../parts/states.tsx'
import { slack, slackKeys } from '../../../slack-client.ts'

type Rights = SlackPeopleWrite['people'][number]['rights']

/** A row as it is typed. */
interface Row {
  id: number
  /** User id or e-mail address. */
  who: string
  name: string
  rights: Rights
  problem: string | undefined
}

const RIGHTS: { value: Rights; label: string }[] = [
  { value: 'read', label: 'Ask' },
  { value: 'respond', label: 'Ask, handle incidents' },
  { value: 'admin', label: 'Everything' },
]

export function SlackPeopleCard() {
  const { data, error, isPending, refetch } = useQuery({ queryKey: slackKeys.people, queryFn: slack.people })
  const { shown, round, reload } = useShown(data, refetch)
  return (
    <Paper withBorder p="md" radius="md" component="section" aria-label="Rights">
      <Stack gap="sm">
        <Title order={2} fz="md">
          Rights
        </Title>
        <Text size="sm" c="dimmed" maw={620}>
          What people may do from Slack, each by user id or by the e-mail address of their account. Whoever is
          not listed cannot use buttons: Slack says so to them alone. Everything includes running agents again
          and deciding proposals.
        </Text>
        {isPending ? (
          <LoadingRows rows={2} />
        ) : error ? (
          <Failed what="the rights" error={error} onRetry={() => void refetch()} />
        ) : (
          shown && <PeopleForm key={round} stored={shown} onSaved={() => void reload()} />
        )}
      </Stack>
    </Paper>
  )
}

function PeopleForm({ stored, onSaved }: { stored: SlackPeople; onSaved: () => void }) {
  const kept = useDraft({ form: 'rights', start: filledFrom(stored) })
  const { rows, asks, channel } = kept.value
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const setRows = (next: Row[]) => set({ rows: next })
  const save = useChange((_: undefined) => slack.savePeople(writeOf(rows, asks, channel)), {
    said: () => 'Rights are saved',
    onDone: () => {
      kept.done()
      onSaved()
    },
    quiet: true,
  })
  const edit = (id: number, more: Partial<Row>) =>
    setRows(rows.map((row) => (row.id === id ? { ...row, ...more } : row)))
  const add = () =>
    setRows([
      ...rows,
      {
        id: Math.max(-1, ...rows.map(({ id }) => id)) + 1,
        who: '',
        name: '',
        rights: 'respond',
        problem: undefined,
      },
    ])
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(undefined)
      }}
    >
      <Stack gap="sm">
        <DraftRestored of={kept} />
        {rows.map((row, n) => (
          <PersonRow
            key={row.id}
            row={row}
            n={n + 1}
            onEdit={(more) => edit(row.id, more)}
            onRemove={() => setRows(rows.filter(({ id }) => id !== row.id))}
          />
        ))}
        <Group>
          <Button variant="default" size="xs" onClick={add}>
            Add a person
          </Button>
        </Group>
        <Switch
          label="Everybody else in the workspace may ask"
          checked={asks}
          onChange={(event) => set({ asks: event.currentTarget.checked })}
        />
        <SlackChannelSelect
          label="Post new proposals to the Slack channel"
          value={channel}
          onChange={(next) => set({ channel: next })}
        />
        <Refusal title="Couldn’t save the rights" error={save.error} />
        <Group>
          <Button type="submit" variant="default" loading={save.isPending}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function PersonRow({
  row: { who, name, rights, problem },
  n,
  onEdit,
  onRemove,
}: {
  row: Row
  /** From 1. */
  n: number
  onEdit: (more: Partial<Row>) => void
  onRemove: () => void
}) {
  return (
    <Group align="flex-end" gap="xs">
      <TextInput
        label="User id or e-mail address"
        aria-label={`Person ${n}: user id or e-mail address`}
        value={who}
        onChange={(event) => onEdit({ who: event.currentTarget.value, problem: undefined })}
        error={problem}
        style={{ flex: 2, minWidth: 200 }}
      />
      <TextInput
        label="Name"
        aria-label={`Person ${n}: name`}
        placeholder="As in Slack"
        value={name}
        onChange={(event) => onEdit({ name: event.currentTarget.value })}
        maxLength={80}
        style={{ flex: 1, minWidth: 120 }}
      />
      <Group align="flex-end" gap="xs" wrap="nowrap" style={{ flex: 1, minWidth: 200 }}>
        <NativeSelect
          label="May"
          aria-label={`Person ${n}: rights`}
          data={RIGHTS}
          value={rights}
          onChange={(event) => onEdit({ rights: event.currentTarget.value as Rights })}
          style={{ flex: 1, minWidth: 150 }}
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          onClick={onRemove}
          aria-label={`Remove person ${n}`}
        >
          <X size={16} aria-hidden />
        </ActionIcon>
      </Group>
    </Group>
  )
}

const filledFrom = ({ people, everyone, proposals_channel }: SlackPeople) => ({
  rows: people.map(({ user, email, name, rights, problem }, id): Row => {
    return { id, who: email || user, name, rights, problem }
  }),
  asks: everyone === 'read',
  channel: proposals_channel,
})

const writeOf = (rows: readonly Row[], asks: boolean, channel: string): SlackPeopleWrite => ({
  people: rows
    .filter(({ who }) => who.trim() !== '')
    .map(({ who, name, rights }) => ({
      ...(who.includes('@') ? { email: who.trim() } : { user: who.trim() }),
      ...(name.trim() ? { name: name.trim() } : {}),
      rights,
    })),
  everyone: asks ? 'read' : 'none',
  proposals_channel: channel,
})
