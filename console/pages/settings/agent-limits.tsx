/** Limits that hold for all agents: runs of a day, dollars of a day, runs at the same time. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { AgentSettings } from '../../../schemas/types.ts'
import { changedIn } from '../../lib/drafts.ts'
import { fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { capWords, limitsDraft, limitsWrite } from '../../lib/model-settings.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { useShown } from '../../lib/use-shown.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { ModelPicker } from '../../parts/model-picker.tsx'
import { NumberInput } from '../../parts/number-input.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { settings, skeys } from '../../settings-client.ts'

export function AgentLimits() {
  const { data, error, refetch } = useQuery({ queryKey: skeys.agents, queryFn: settings.agents })
  const { shown, round, reload } = useShown(data, refetch)
  if (error) return <Failed what="the limits" error={error} onRetry={() => void refetch()} />
  if (!shown) return <LoadingRows rows={3} />
  return <Limits key={round} stored={shown} onSaved={() => void reload()} />
}

function Limits({ stored, onSaved }: { stored: AgentSettings; onSaved: () => void }) {
  const before = limitsDraft(stored)
  const kept = useDraft({ form: 'limits', start: before, plain: (now) => changedIn(now, before) })
  const draft = kept.value
  const write = limitsWrite(draft, before)
  const save = useChange((_: undefined) => settings.saveAgents(write), {
    said: () => 'Limits saved',
    onDone: () => {
      kept.done()
      onSaved()
    },
    quiet: true,
  })
  const number = (field: 'daily_cap' | 'daily_budget_usd' | 'concurrency') => ({
    ...marksOf(fieldErrors(save.error))(field),
    value: draft[field] ?? '',
    onChange: (value: string | number) =>
      kept.set((now) => ({ ...now, [field]: value === '' ? null : Number(value) })),
  })
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        save.mutate(undefined)
      }}
    >
      <Stack maw={480}>
        <DraftRestored of={kept} />
        <NumberInput
          label="Runs of one agent in 24 hours"
          description={`Where it has no cap of its own. ${capWords(stored)}`}
          min={1}
          max={10_000}
          allowDecimal={false}
          {...number('daily_cap')}
        />
        <NumberInput
          label="Dollars of all agents in a day"
          description="Ask counts too. Runs over this limit are capped. Optional"
          min={0}
          max={1_000_000}
          prefix="$"
          {...number('daily_budget_usd')}
        />
        <NumberInput
          label="Runs of all agents at the same time"
          description="Further runs are queued"
          min={1}
          max={200}
          allowDecimal={false}
          {...number('concurrency')}
        />
        <ModelPicker
          names={{ provider: 'Fallback provider', model: 'Fallback model' }}
          blank="None"
          value={{ provider: draft.fallback_provider, model: draft.fallback_model }}
          onChange={({ provider, model }) =>
            kept.set((now) => ({ ...now, fallback_provider: provider, fallback_model: model }))
          }
        />
        <Text size="xs" c="dimmed">
          Used while another is unavailable, by agents without their own, Ask and guided setup.
        </Text>
        <Refusal title="Couldn’t save the limits" error={save.error} />
        <Group>
          <Button type="submit" loading={save.isPending} disabled={Object.keys(write).length === 0}>
            Save limits
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
