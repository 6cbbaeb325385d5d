/** Name, goal, description and parameters of a project, and its end. */
import { Alert, Button, Group, Paper, Stack, Text, Textarea, TextInput, Title } from '@mantine/core'
import { Suspense, useState } from 'react'
import { Link } from 'react-router'
import type { Project, ProjectReport, ProjectUpdate } from '../../../schemas/types.ts'
import { declared } from '../../declared-client.ts'
import { ConfigForm } from '../../forms/config-form.tsx'
import { lazyFrom } from '../../lib/chunks.ts'
import { withoutSecrets } from '../../lib/drafts.ts'
import { partPath } from '../../lib/fields.ts'
import { leftPausedWords, wireWords } from '../../lib/left-paused.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { IngestKeysOnce } from '../../parts/ingest-keys.tsx'
import { Acts, Writable } from '../../parts/may.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Section } from '../../parts/section.tsx'
import { ProjectKeys } from './project-keys.tsx'
import { StepsOf, useTemplateOf } from './setup-steps.tsx'

const DeleteProject = lazyFrom(() => import('./delete-project.tsx'))('DeleteProject')

export function SettingsTab({ project: now }: { project: Project }) {
  const [project, setProject] = useState(now)
  const isTemplated = project.template !== 'custom' && !project.default
  const template = useTemplateOf(project)
  const kept = useDraft({
    form: 'project',
    start: fieldsOf(project),
    version: project.version,
    plain: (now) => ({
      ...now,
      params: withoutSecrets(now.params, template.data?.params as Record<string, unknown> | undefined),
    }),
  })
  const { name, goal, description, params } = kept.value
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const show = (fresh: Project): void => {
    setProject(fresh)
    kept.fill(fieldsOf(fresh))
  }
  const save = useChange(
    (version: number | undefined) => {
      const body: ProjectUpdate = {
        ...(name !== project.name ? { name: name.trim() } : {}),
        ...(goal !== project.goal ? { goal } : {}),
        ...(description !== project.description ? { description } : {}),
        ...(JSON.stringify(params) !== JSON.stringify(project.params) ? { params } : {}),
      }
      return declared.updateProject(project.id, body, version)
    },
    { said: ({ report }) => `Saved. ${reportText(report)}`, onDone: show, quiet: true },
  )
  return (
    <Stack maw={760}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save.mutate(kept.version)
        }}
      >
        <Stack>
          <DraftRestored of={kept} />
          <Writable>
            <PurposeFields isDefault={project.default} value={kept.value} onChange={set} />
            {template.data && (
              <Parameters
                schema={template.data.params}
                value={params}
                onChange={(next) => set({ params: next })}
                onBegin={(own) => kept.begin((now) => ({ ...now, params: { ...now.params, ...own } }))}
              />
            )}
          </Writable>
          <Refusal
            title="Couldn’t save the project"
            error={save.error}
            onTakeTheirs={() => {
              save.reset()
              void declared.project(project.id).then(show)
            }}
            onKeepMine={() => save.mutate(undefined)}
          />
          {save.data?.report.remade?.map(
            ({ kind, from, to }) =>
              kind === 'source' && (
                <Alert key={to} color="yellow" title={`${to} has an address of its own`}>
                  {from} could not be renamed, so {to} was made in its place. Point the senders of this
                  project at <Link to={partPath('source', to)}>its address</Link>: what they post to {from} no
                  longer reaches this project.
                </Alert>
              ),
          )}
          {save.data?.ingest_keys && <IngestKeysOnce keys={save.data.ingest_keys} />}
          <Group>
            <Acts says>
              <Button type="submit" loading={save.isPending}>
                Save
              </Button>
            </Acts>
          </Group>
        </Stack>
      </form>
      <StepsOf project={project} title="How it is set up" />
      <Beside project={project} isTemplated={isTemplated} />
    </Stack>
  )
}

type Purpose = Pick<ReturnType<typeof fieldsOf>, 'name' | 'goal' | 'description'>

/** What it is called, and what it is for. */
function PurposeFields({
  isDefault,
  value: { name, goal, description },
  onChange,
}: {
  isDefault: boolean
  value: Purpose
  onChange: (some: Partial<Purpose>) => void
}) {
  return (
    <>
      {!isDefault && (
        <TextInput
          label="Name"
          value={name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
          required
          maxLength={80}
        />
      )}
      <TextInput
        label="Goal"
        description="One line"
        value={goal}
        onChange={(event) => onChange({ goal: event.currentTarget.value })}
        maxLength={200}
      />
      <Textarea
        label="Description"
        description="Optional"
        value={description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
        autosize
        minRows={2}
        maxRows={10}
        maxLength={4_000}
      />
    </>
  )
}

/** What its template asks for. */
function Parameters({
  schema,
  value,
  onChange,
  onBegin,
}: {
  schema: unknown
  value: Project['params']
  onChange: (params: Project['params']) => void
  onBegin: (own: Project['params']) => void
}) {
  return (
    <div>
      <Title order={2} mb={4}>
        Parameters
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        Only the difference is applied; what was edited by hand is kept. Leave a secret empty to keep the
        stored one.
      </Text>
      <ConfigForm
        schema={schema as Record<string, unknown>}
        value={value}
        onChange={onChange}
        onBegin={onBegin}
      />
    </div>
  )
}

/** What is not of its form: its keys, and its end. */
function Beside({ project, isTemplated }: { project: Project; isTemplated: boolean }) {
  const [deleting, setDeleting] = useState(false)
  return (
    <>
      <Section title="Keys of this project">
        <ProjectKeys project={project} />
      </Section>
      {project.default ? (
        <Alert color="gray" title="The Default project">
          Holds what is made outside other projects. Cannot be deleted.
        </Alert>
      ) : (
        <Acts>
          <Paper withBorder p="md" radius="md" mt="lg">
            <Title order={2}>Delete this project</Title>
            <Text size="sm" mt={4}>
              {isTemplated
                ? 'What its template made goes with it, unless another project uses it. You see the list first.'
                : 'Its parts stay where they are, unless you pick them. You see the list first.'}
            </Text>
            <Button mt="sm" color="red" variant="light" onClick={() => setDeleting(true)}>
              Delete…
            </Button>
            {deleting && (
              <Suspense fallback={null}>
                <DeleteProject project={project} onClose={() => setDeleting(false)} />
              </Suspense>
            )}
          </Paper>
        </Acts>
      )}
    </>
  )
}

const fieldsOf = ({ name, goal, description, params }: Project) => ({ name, goal, description, params })

const nameIn = (part: string): string => part.slice(part.indexOf(':') + 1)

function reportText({ left_paused, unwired, renamed = [], remade = [], ...report }: ProjectReport): string {
  const words = Object.entries(report)
    .filter(([, parts]) => parts.length > 0)
    .map(
      ([what, parts]) =>
        `${parts.length} ${what}${what === 'created' ? ` (${parts.map(nameIn).join(', ')})` : ''}`,
    )
  const paused = leftPausedWords(left_paused)
  const wires = unwired ? wireWords(unwired) : []
  return [
    words.length ? `Parts: ${words.join(', ')}.` : '',
    renamed.length ? `Renamed: ${renamed.map(({ from, to }) => `${from} to ${to}`).join(', ')}.` : '',
    paused && `Still paused: ${paused}.`,
    wires.length ? `No longer wired: ${wires.join(', ')}.` : '',
  ]
    .join(' ')
    .trim()
}
