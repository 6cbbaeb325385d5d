/** The config of a source, to change. Secrets are masked and kept unless typed anew. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import type { Label, Source } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { toDrafts } from '../../forms/label-drafts.ts'
import { PollInput } from '../../forms/poll-input.tsx'
import { type FilledIn, plainSource, toConfig, withOwn } from '../../forms/source-draft.ts'
import { SourceForm } from '../../forms/source-form.tsx'
import { fieldErrors } from '../../lib/field-errors.ts'
import { notifications } from '../../lib/notices.ts'
import { warningsIn } from '../../lib/use-change.ts'
import { takeTheirs, useDraft } from '../../lib/use-draft.ts'
import { useShown } from '../../lib/use-shown.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Acts, Writable } from '../../parts/may.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { Warnings } from '../../parts/warnings.tsx'
import { TestOutcome } from './test-outcome.tsx'

/** The fields that events of a source have, suggested while one types: whoever only looks asks for none. */
function useFields(source: string) {
  const [isAsked, setAsked] = useState(false)
  const fields = useQuery({
    queryKey: keys.sourceFields(source),
    queryFn: () => api.sourceFields(source),
    enabled: isAsked,
  })
  return { fields, ask: () => setAsked(true) }
}

interface Props {
  /** As it is now. */
  source: Source
  refetch: () => Promise<{ data: Source | undefined }>
}

export function SettingsTab({ source, refetch }: Props) {
  const { shown = source, round, reload } = useShown<Source>(source, refetch)
  const queries = useQueryClient()
  const connectors = useQuery({ queryKey: keys.connectors, queryFn: api.connectors })
  const { fields, ask } = useFields(source.name)
  const schema = connectors.data?.[source.connector]?.config_schema
  const start = useMemo(() => filledFrom(shown), [shown])
  const kept = useDraft({
    form: 'source',
    start,
    // What others saved since it was filled in, such as a label added under Fields, is merged or told.
    version: shown.version,
    plain: (now) => plainSource(now, schema),
  })
  const { fill } = kept
  // Read anew, after a save or to take theirs.
  useEffect(() => {
    if (round > 0) fill(start)
  }, [round, start, fill])
  const { draft, poll } = kept.value
  const body = () => ({
    name: source.name,
    connector: source.connector,
    poll: poll.trim() || (connectors.data?.[source.connector]?.poll ?? source.poll),
    config: toConfig(draft),
  })
  const save = useMutation({
    mutationFn: (version: number | undefined) => api.updateSource(source.name, body(), version),
    onSuccess: () => {
      kept.done()
      void reload()
      notifications.show({ message: `${source.name} is saved; new events follow it` })
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keys.sources }),
  })
  const test = useMutation({ mutationFn: () => api.testSource(body()) })
  const connector = connectors.data?.[source.connector]
  const faults = fieldErrors(save.error)
  if (connectors.error && !connectors.data)
    return <Failed what="connectors" error={connectors.error} onRetry={() => void connectors.refetch()} />
  if (!connectors.data) return <LoadingRows />
  // Such as findings: nobody chooses how it is read.
  if (!connector)
    return <Text c="dimmed">svc itself writes to this source. There is nothing to set here.</Text>
  return (
    <form
      onFocus={ask}
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(kept.version)
      }}
    >
      <Stack gap="lg" maw={1100}>
        <DraftRestored of={kept} />
        <Text size="sm" c="dimmed">
          Stored events keep their labels; changes apply to new events.
        </Text>
        <Writable>
          <PollInput
            connector={connector}
            value={poll}
            onChange={(next) => kept.set((now) => ({ ...now, poll: next }))}
            fault={faults.poll}
          />
          <SourceForm
            errors={faults}
            kind={source.connector}
            sourceName={source.name}
            connector={connector}
            value={draft}
            onChange={(next) => kept.set((now) => ({ ...now, draft: next }))}
            onBegin={(own) => kept.begin(withOwn(own))}
            knownFields={fields.data?.fields.map((field) => field.name) ?? []}
          />
        </Writable>
        <Warnings of={warningsIn(save.data)} />
        <Refusal
          title="Couldn’t save the source"
          error={save.error}
          onTakeTheirs={takeTheirs(kept, () => {
            save.reset()
            void reload()
          })}
          onKeepMine={() => save.mutate(undefined)}
        />
        <TestOutcome result={test.data} error={test.error} />
        <Foot isSaving={save.isPending} isTesting={test.isPending} onTest={() => test.mutate()} />
      </Stack>
    </form>
  )
}

function Foot(props: { isSaving: boolean; isTesting: boolean; onTest: () => void }) {
  return (
    <Acts says>
      <Group>
        <Button type="submit" loading={props.isSaving}>
          Save
        </Button>
        <Button variant="default" loading={props.isTesting} onClick={props.onTest}>
          Test
        </Button>
      </Group>
    </Acts>
  )
}

/** The form as a source fills it in. */
function filledFrom({ config: { labels, ...config }, poll }: Source): FilledIn {
  return { draft: { config, labels: toDrafts((labels ?? []) as Label[]) }, poll }
}
