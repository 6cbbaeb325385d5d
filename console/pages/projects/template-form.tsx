/** A template's parameters as a form, and what its project will be made of. */
import { Alert, Button, Grid, Group, List, Paper, Stack, Text, TextInput, Title } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Suspense } from 'react'
import { Link, useNavigate } from 'react-router'
import type { IngestKeys, Project, Template } from '../../../schemas/types.ts'
import { declared } from '../../declared-client.ts'
import { ConfigForm } from '../../forms/config-form.tsx'
import { lazyFrom } from '../../lib/chunks.ts'
import { withoutSecrets } from '../../lib/drafts.ts'
import { faultsBelow, fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { KIND_WORDS } from '../../lib/fields.ts'
import { useChange } from '../../lib/use-change.ts'
import { useDraft } from '../../lib/use-draft.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { IngestKeysOnce } from '../../parts/ingest-keys.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { SetupSteps } from './setup-steps.tsx'

const DemoMissing = lazyFrom(() => import('../home/doors.tsx'))('DemoMissing')

export function TemplateForm({ template }: { template: Template }) {
  const go = useNavigate()
  const schema = template.params as Record<string, unknown>
  const kept = useDraft({
    form: `template ${template.key}`,
    start: { name: '', params: defaultsOf(template.params) },
    plain: (now) => ({ ...now, params: withoutSecrets(now.params, schema) }),
  })
  const { name, params } = kept.value
  const detect = useMutation({
    mutationFn: () => declared.detect(template.key),
    onSuccess: (found) => kept.set((now) => ({ ...now, params: { ...now.params, ...found.params } })),
  })
  const create = useChange(
    () =>
      declared.createProject({
        template: template.key,
        params,
        ...(name.trim() ? { name: name.trim() } : {}),
      }),
    {
      said: (project) => `${project.name} is running`,
      // Its keys show this once, so the way on is for the reader to take.
      onDone: (project) => {
        kept.done()
        if (!project.ingest_keys) void go(`/projects/${project.id}`)
      },
      quiet: true,
    },
  )
  if (create.data?.ingest_keys)
    return <Made template={template} project={create.data} keys={create.data.ingest_keys} />
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        create.mutate(undefined)
      }}
    >
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, md: 7 }}>
          {/* As wide as the fields of its parameters are. */}
          <Stack maw={640}>
            {template.demo && (
              <Suspense>
                <DemoMissing of={template.key} />
              </Suspense>
            )}
            <Text>{template.description}</Text>
            <DraftRestored of={kept} />
            <TextInput
              label="Name of the project"
              {...marksOf(fieldErrors(create.error))('name')}
              placeholder={template.title}
              value={name}
              onChange={({ currentTarget }) => kept.set((now) => ({ ...now, name: currentTarget.value }))}
              maxLength={80}
            />
            <ConfigForm
              schema={schema}
              value={params}
              errors={faultsBelow(fieldErrors(create.error), 'params')}
              onChange={(next) => kept.set((now) => ({ ...now, params: next }))}
              onBegin={(own) => kept.begin((now) => ({ ...now, params: { ...now.params, ...own } }))}
            />
            <Refusal title="Couldn’t create the project" error={create.error} />
            <Group>
              <Button type="submit" loading={create.isPending}>
                Create project
              </Button>
              {template.detects && (
                <Button variant="default" loading={detect.isPending} onClick={() => detect.mutate()}>
                  Fill in what can be found
                </Button>
              )}
            </Group>
            {detect.data && <Detected found={detect.data} />}
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Makes template={template} params={params} />
        </Grid.Col>
      </Grid>
    </form>
  )
}

/** What of the parameters was found on this machine. */
function Detected({
  found: { found, notes, missing },
}: {
  found: Awaited<ReturnType<typeof declared.detect>>
}) {
  return (
    <Alert color="indigo" title="What was found" role="status">
      <List size="sm">
        {[...found, ...notes].map((text) => (
          <List.Item key={text}>{text}</List.Item>
        ))}
        {missing.map((text) => (
          <List.Item key={text}>Not found: {text}</List.Item>
        ))}
        {found.length + missing.length + notes.length === 0 && (
          <List.Item>Nothing to look for; fill in the form.</List.Item>
        )}
      </List>
    </Alert>
  )
}

/** The parts the project will have, and what is left to do by hand. */
function Makes({ template, params }: { template: Template; params: Record<string, unknown> }) {
  // One of which it makes either of two, by its parameters, is one part.
  const made = new Map(template.objects.map((part) => [`${part.kind} ${part.key}`, part]))
  return (
    <Paper withBorder p="md" radius="md">
      <Title order={2}>What it makes</Title>
      <List size="sm" mt="xs">
        {[...made].map(([id, { kind, key, about }]) => (
          <List.Item key={id}>
            {KIND_WORDS[kind]?.one}: {about ?? key}
          </List.Item>
        ))}
      </List>
      {(template.facts.you?.length ?? 0) > 0 && (
        <>
          <Text fw={600} size="sm" mt="md">
            What you do
          </Text>
          <List size="sm">
            {template.facts.you?.map((text) => (
              <List.Item key={text}>{text}</List.Item>
            ))}
          </List>
        </>
      )}
      {template.setup.length > 0 && (
        <>
          <Text fw={600} size="sm" mt="md" mb={4}>
            How it is set up
          </Text>
          <SetupSteps template={template} params={params} />
        </>
      )}
    </Paper>
  )
}

/** What a form starts with: the defaults of the parameters. */
export function defaultsOf(schema: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { default?: unknown }> }
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, property]) =>
      property.default === undefined ? [] : [[name, property.default]],
    ),
  )
}

/** Its sources have ingest keys, which are shown once. */
function Made({ template, project, keys }: { template: Template; project: Project; keys: IngestKeys }) {
  return (
    <Stack maw={820}>
      <IngestKeysOnce keys={keys} />
      {template.setup.length > 0 && (
        <SetupSteps template={template} params={project.params} project={project} />
      )}
      <Group>
        <Button component={Link} to={`/projects/${project.id}`}>
          Go to the project
        </Button>
      </Group>
    </Stack>
  )
}
