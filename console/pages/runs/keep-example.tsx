/** Keeps a run as an example that its agent is tested by. */
import { Button, Modal, Select, Stack, TagsInput, TextInput } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { Link } from 'react-router'
import type { AgentExampleWrite, RunDetail } from '../../../schemas/types.ts'
import { agentTests } from '../../agent-test-client.ts'
import { agentPath } from '../../lib/paths.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { Refusal } from '../../parts/refusal.tsx'

const ANY = 'any'

export function KeepExample({ run }: { run: RunDetail }) {
  const [opened, setOpened] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setOpened(true)}>
        Keep as example…
      </Button>
      {opened && <Dialog run={run} onClose={() => setOpened(false)} />}
    </>
  )
}

function Dialog({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const kept = useDraft({ form: 'example', start: filledFrom(run) })
  const { name, verdict, mentions } = kept.value
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const keep = useChange((body: AgentExampleWrite) => agentTests.addExample(run.agent, body), {
    quiet: true,
    onDone: kept.done,
  })
  const known = (run.definition.verdicts as { verdict: string }[] | undefined) ?? []
  const verdicts = [...new Set([...known.map((one) => one.verdict), ...(run.verdict ? [run.verdict] : [])])]
  return (
    <Modal opened onClose={onClose} title="Keep as example">
      {keep.data ? (
        <Stack>
          <span role="status">{run.agent} is tested by it from now on.</span>
          <Button component={Link} to={agentPath(run.agent, 'tests')}>
            Go to the tests of {run.agent}
          </Button>
        </Stack>
      ) : (
        <Stack
          component="form"
          onSubmit={(event: FormEvent) => {
            event.preventDefault()
            keep.mutate({ name, run_id: run.id, verdict: verdict === ANY ? null : verdict, mentions })
          }}
        >
          <DraftRestored of={kept} />
          <TextInput
            label="Name"
            required
            value={name}
            onChange={(event) => set({ name: event.currentTarget.value })}
            data-autofocus
          />
          <Select
            label="Expected conclusion"
            data={[
              { value: ANY, label: 'a finding, with any verdict' },
              { value: 'no_op', label: 'nothing to report' },
              ...verdicts.map((one) => ({ value: one, label: `the verdict ${one}` })),
            ]}
            value={verdict}
            onChange={(value) => set({ verdict: value ?? ANY })}
            allowDeselect={false}
          />
          <TagsInput
            label="Its finding must mention"
            description="Words in any case, or a pattern between slashes. Enter adds one."
            value={mentions}
            onChange={(next) => set({ mentions: next })}
          />
          <Refusal title="Couldn’t keep the example" error={keep.error} />
          <Button type="submit" loading={keep.isPending}>
            Keep
          </Button>
        </Stack>
      )}
    </Modal>
  )
}

const filledFrom = (run: RunDetail) => ({
  name: run.headline ?? `${run.key} ${run.made_at.slice(0, 10)}`,
  verdict: run.outcome === 'no_op' ? 'no_op' : (run.verdict ?? ANY),
  mentions: [] as string[],
})
