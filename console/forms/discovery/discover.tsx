/** Asks an upstream what it has, lets a person choose of it, and takes what is proposed into the form. */
import { Button, Group, Loader, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Radar } from 'lucide-react'
import { Suspense, useEffect, useRef } from 'react'
import type { Connector } from '../../../schemas/types.ts'
import { api } from '../../client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { notifications } from '../../lib/notices.ts'
import { Refusal } from '../../parts/refusal.tsx'
import { LoadingRows } from '../../parts/states.tsx'
import type { SourceDraft } from '../source-draft.ts'
import { toConfig } from '../source-draft.ts'
import { offerOf } from './picking.ts'

const Picker = lazyFrom(() => import('./picker.tsx'))('Picker')
const ProposalView = lazyFrom(() => import('./proposal-view.tsx'))('ProposalView')

interface Props {
  /** Name of the connector. */
  kind: string
  connector: Connector
  draft: SourceDraft
  /** The draft with the proposal in it. */
  onTake: (draft: SourceDraft) => void
  /** A source that exists, whose secrets are used. */
  sourceName?: string
}

export function Discover({ kind, connector, draft, onTake, sourceName }: Props) {
  const asked = useRef<AbortController | null>(null)
  const button = useRef<HTMLButtonElement>(null)
  useEffect(() => () => asked.current?.abort(), [])
  const ask = (config: Record<string, unknown>, signal: AbortSignal) =>
    api.discoverSource(
      { connector: kind, config, ...(sourceName === undefined ? {} : { name: sourceName }) },
      signal,
    )
  const discover = useMutation({
    mutationFn: (config: Record<string, unknown>) => {
      asked.current = new AbortController()
      return ask(config, asked.current.signal)
    },
  })
  const wasStopped = asked.current?.signal.aborted === true
  const close = () => {
    discover.reset()
    button.current?.focus()
  }
  const chooseTable = (table: string) => {
    const next = { ...draft, config: { ...draft.config, table } }
    onTake(next)
    discover.mutate(toConfig(next))
  }
  const form = {
    draft,
    titles: new Map(connector.fields.map(({ name, label }) => [`/${name}`, label ?? name])),
    required: connector.fields.filter((of) => of.required && !of.secret).map(({ name }) => name),
    onTake: (next: SourceDraft) => {
      onTake(next)
      close()
      notifications.show({ message: 'Applied. Review and test it, then save' })
    },
  }
  const found = discover.isPending ? undefined : discover.data
  const offer = found ? offerOf(found) : null
  return (
    <Stack gap="sm" my="md">
      <Group gap="sm">
        <Button
          ref={button}
          variant="default"
          leftSection={<Radar size={16} aria-hidden />}
          disabled={discover.isPending}
          onClick={() => discover.mutate(toConfig(draft))}
        >
          Discover
        </Button>
        {discover.isPending ? (
          <Group gap="xs" role="status">
            <Loader size="xs" aria-hidden />
            <Text size="sm">Asking the upstream, for at most 30 seconds…</Text>
            <Button variant="subtle" size="compact-sm" onClick={() => asked.current?.abort()}>
              Stop
            </Button>
          </Group>
        ) : (
          <Text size="sm" c="dimmed">
            Asks the upstream what it has and proposes the rest. Nothing is saved.
          </Text>
        )}
      </Group>
      {!wasStopped && <Refusal title="Nothing was discovered" error={discover.error} />}
      <Suspense fallback={<LoadingRows rows={2} />}>
        {found && !offer && <ProposalView {...form} found={found} onDrop={close} onTable={chooseTable} />}
        {found && offer && (
          <Picker
            key={discover.submittedAt}
            id={discover.submittedAt}
            offer={offer}
            // What is asked next is asked of the same upstream, whatever is typed meanwhile.
            ask={(more, signal) => ask({ ...discover.variables, ...more }, signal)}
            form={form}
            onDrop={close}
          />
        )}
      </Suspense>
    </Stack>
  )
}
