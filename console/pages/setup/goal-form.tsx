/** The first step of guided setup: what is wanted, in plain words. */
import {
  Accordion,
  Alert,
  Button,
  Group,
  Paper,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Sparkles } from 'lucide-react'
import { useNavigate } from 'react-router'
import type { SetupDraft } from '../../../schemas/types.ts'
import { api, keys } from '../../client.ts'
import { type FaultMark, fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { AddModel } from '../../parts/no-model.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { useIsNoModelSaid } from '../../parts/shell.tsx'
import { setups } from '../../setup-client.ts'
import { Steps } from './steps.tsx'

const EXAMPLES = [
  'Tell me when checkout fails, and find out why',
  'Look at every new alert, and say whether somebody has to get up',
  'Every morning, sum up what was deployed and what broke',
]

/** As schemas/requests/setup-draft.json has it. */
const GOAL_MAX = 200
const TOO_LONG = `${GOAL_MAX} characters at most: say more under Name and details`

export function GoalForm() {
  const go = useNavigate()
  const kept = useDraft({
    form: 'goal',
    start: { goal: '', who: 'svc' as 'svc' | 'own', name: '', description: '' },
  })
  const { goal, who, name, description } = kept.value
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const capabilities = useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities })
  const hasModel = capabilities.data?.agent_key_configured
  const body = (): SetupDraft => ({
    goal: goal.trim(),
    who,
    ...(name.trim() ? { name: name.trim() } : {}),
    ...(description.trim() ? { description: description.trim() } : {}),
  })
  const begun = {
    onDone: ({ project }: { project: { id: string } }) => {
      kept.done()
      void go(`/projects/${project.id}/setup`)
    },
  }
  const start = useChange(() => setups.start(body()), { ...begun, quiet: true })
  const byHand = useChange(() => setups.start({ ...body(), plan: {} }), { ...begun, quiet: true })
  const faults = fieldErrors(start.error ?? byHand.error)
  return (
    <Paper withBorder p="lg" radius="md">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const begin = hasModel === false ? byHand : start
          begin.mutate(undefined)
        }}
      >
        <Stack>
          <Steps at="goal" />
          <DraftRestored of={kept} />
          <Textarea
            label="What do you want?"
            description="A plan is drafted first; nothing is created until you apply it"
            placeholder={EXAMPLES[0]}
            value={goal}
            onChange={(event) => set({ goal: event.currentTarget.value.replace(/[\r\n]+/g, ' ') })}
            maxLength={GOAL_MAX}
            autosize
            minRows={2}
            size="md"
            required
            data-autofocus
            {...marksOf(faults)('goal')}
            {...(goal.length >= GOAL_MAX ? { error: TOO_LONG } : {})}
          />
          <Examples onPick={(example) => set({ goal: example })} />
          <WhoLooks who={who} onChange={(next) => set({ who: next })} />
          <Details name={name} description={description} mark={marksOf(faults)('name')} onChange={set} />
          {hasModel === false && <NoModel />}
          <Refusal error={start.error ?? byHand.error} title="Couldn’t start" />
          <Group>
            {hasModel !== false && (
              <Button
                type="submit"
                size="md"
                leftSection={<Sparkles size={18} aria-hidden />}
                loading={start.isPending}
              >
                Write the plan
              </Button>
            )}
            {/* Where no model writes it, this is what the form is sent for. */}
            <Button
              {...(hasModel === false
                ? { type: 'submit', variant: 'filled' }
                : {
                    variant: 'subtle',
                    onClick: ({ currentTarget }) =>
                      currentTarget.form?.reportValidity() && byHand.mutate(undefined),
                  })}
              loading={byHand.isPending}
            >
              Write it by hand
            </Button>
          </Group>
        </Stack>
      </form>
    </Paper>
  )
}

interface DetailsProps {
  name: string
  description: string
  mark: FaultMark
  onChange: (some: { name?: string; description?: string }) => void
}

function Details({ name, description, mark, onChange }: DetailsProps) {
  return (
    <Accordion variant="contained">
      <Accordion.Item value="more">
        <Accordion.Control>Name and details</Accordion.Control>
        <Accordion.Panel>
          <Stack>
            <TextInput
              label="Name of the project"
              description="Default: named by the plan"
              {...mark}
              value={name}
              onChange={(event) => onChange({ name: event.currentTarget.value })}
              maxLength={80}
            />
            <Textarea
              label="More about it"
              description="Systems, names, what is normal and what is not."
              value={description}
              onChange={(event) => onChange({ description: event.currentTarget.value })}
              maxLength={4_000}
              autosize
              minRows={3}
              maxRows={10}
            />
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  )
}

function Examples({ onPick }: { onPick: (goal: string) => void }) {
  return (
    <Group gap="xs" role="group" aria-label="Examples">
      {EXAMPLES.map((example) => (
        <Button
          key={example}
          size="compact-sm"
          variant="default"
          fw={400}
          onClick={() => onPick(example)}
          h="auto"
          py={4}
          styles={{ label: { whiteSpace: 'normal', overflow: 'visible', textAlign: 'left' } }}
        >
          {example}
        </Button>
      ))}
    </Group>
  )
}

function WhoLooks({ who, onChange }: { who: 'svc' | 'own'; onChange: (who: 'svc' | 'own') => void }) {
  return (
    <div>
      <Text size="sm" fw={500} id="who-looks">
        Who looks when something happens?
      </Text>
      <SegmentedControl
        mt={4}
        value={who}
        onChange={(value) => onChange(value as 'svc' | 'own')}
        data={[
          { value: 'svc', label: 'Agents of svc' },
          { value: 'own', label: 'My own agent' },
        ]}
        aria-labelledby="who-looks"
      />
      <Text size="xs" c="dimmed" mt={4}>
        {who === 'svc'
          ? 'Run here, on your model provider.'
          : 'Runs outside: gets a key of this project, reads over MCP, records findings.'}
      </Text>
    </div>
  )
}

function NoModel() {
  const isSaid = useIsNoModelSaid()
  return (
    <Alert color="yellow" title="No model provider is set" role="status">
      <Text size="sm">
        A plan is written by a model. Without one, write it by hand: it is checked in the same way.{' '}
        {!isSaid && <AddModel />}
      </Text>
    </Alert>
  )
}
