/** One skill: its description, and its Markdown with a preview beside it. */
import {
  Button,
  Grid,
  Group,
  Input,
  Modal,
  Paper,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { Suspense, useState } from 'react'
import { useNavigate, useParams, useSearchParams } from 'react-router'
import type { Skill } from '../../../schemas/types.ts'
import { ApiError } from '../../client.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { blankFaults, fieldErrors, marksOf } from '../../lib/field-errors.ts'
import { bytesOf, bytesText } from '../../lib/size.ts'
import { useChange } from '../../lib/use-change.ts'
import { takeTheirs, useDraft } from '../../lib/use-draft.ts'
import { useShown } from '../../lib/use-shown.ts'
import { useShownFaults } from '../../lib/use-shown-faults.ts'
import { DraftRestored } from '../../parts/draft-restored.tsx'
import { MarkdownText } from '../../parts/markdown.tsx'
import { Acts, useMay, Writable } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'
import { ProjectSelect } from './skills-page.tsx'

const CodeEditor = lazyFrom(() => import('../../parts/code-editor.tsx'))('default')
const BODY_MAX = 65_536

export default function SkillPage() {
  const { name } = useParams()
  const [query] = useSearchParams()
  const project = query.get('project') || null
  if (name === undefined)
    return (
      <>
        <PageHead title="Add skill" />
        <SkillForm project={project} />
      </>
    )
  return <ExistingSkill key={name} name={name} project={project} />
}

function ExistingSkill({ name, project }: { name: string; project: string | null }) {
  const skills = useQuery({
    queryKey: dkeys.skills,
    queryFn: declared.skills,
    refetchInterval: LIST_FRESH_MS,
  })
  const used = skills.data?.find((skill) => skill.name === name)?.used_by ?? []
  const of = project ?? used[0]?.id ?? null
  const { data, error, refetch } = useQuery({
    queryKey: dkeys.skill(of ?? '', name),
    queryFn: () => declared.skill(of!, name),
    enabled: of !== null,
    refetchInterval: LIST_FRESH_MS,
  })
  const { shown, round, reload } = useShown(data, refetch, 'skill')
  return (
    <>
      <PageHead title={name}>
        {of && (
          <>
            <Button
              component="a"
              href={declared.skillFile(of, name)}
              variant="default"
              leftSection={<Download size={16} aria-hidden />}
            >
              SKILL.md
            </Button>
            <Acts>
              <RemoveSkill name={name} project={of} used={used} />
            </Acts>
          </>
        )}
      </PageHead>
      {used.length > 0 && (
        <Text size="sm" mb="sm" c="dimmed">
          Used by {used.map((entry) => entry.name).join(', ')}. A change reaches every one of them.
        </Text>
      )}
      {error && <Failed what="the skill" error={error} onRetry={() => void refetch()} />}
      {skills.error && of === null && (
        <Failed what="the skill" error={skills.error} onRetry={() => void skills.refetch()} />
      )}
      {skills.data && of === null && (
        <Failed what="the skill" error={new ApiError(`No skill is named ${name}.`, 404)} />
      )}
      {shown ? (
        <SkillForm key={round} project={of} stored={shown} onReload={() => void reload()} />
      ) : (
        !error && (of !== null || skills.isPending) && <LoadingRows />
      )}
    </>
  )
}

function RemoveSkill({
  name,
  project,
  used,
}: {
  name: string
  project: string
  used: readonly { id: string; name: string }[]
}) {
  const go = useNavigate()
  const [asking, setAsking] = useState(false)
  const others = used.filter(({ id }) => id !== project)
  const here = used.find(({ id }) => id === project)?.name ?? 'this project'
  const remove = useChange(() => declared.removeSkill(project, name), {
    failed: `Couldn’t remove ${name}`,
    said: ({ deleted }) =>
      deleted ? `${name} is deleted; undo it under Changes` : `${here} no longer uses ${name}`,
    onDone: () => void go('/skills'),
  })
  return (
    <>
      <Button variant="light" color="red" onClick={() => setAsking(true)}>
        Remove…
      </Button>
      <Modal opened={asking} onClose={() => setAsking(false)} title={`Remove ${name} from ${here}?`} centered>
        <Stack>
          <Text size="sm">
            {others.length
              ? `Kept for ${others.map((entry) => entry.name).join(', ')}.`
              : 'No other project uses this skill: it is deleted.'}
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={() => setAsking(false)}>
              Cancel
            </Button>
            <Button color="red" loading={remove.isPending} onClick={() => remove.mutate(undefined)}>
              {others.length ? 'Remove' : 'Delete'}
            </Button>
          </Group>
        </Stack>
      </Modal>
    </>
  )
}

interface SkillFormProps {
  project: string | null
  stored?: Skill
  /** Fills the form in again from what is stored now. */
  onReload?: () => void
}

function Preview({ title = 'Preview', body }: { title?: string; body: string }) {
  return (
    <>
      <Title order={2} size="sm" mb={4}>
        {title}
      </Title>
      <Paper withBorder p="md" radius="md" mih={120}>
        {body.trim() ? <MarkdownText text={body} /> : <Text c="dimmed">Nothing written yet.</Text>}
      </Paper>
    </>
  )
}

/** The instructions, with what they look like beside them. */
function BodyEditor({
  body,
  fault,
  onChange,
}: {
  body: string
  fault: string | undefined
  onChange: (body: string) => void
}) {
  if (!useMay()) return <Preview title="Instructions" body={body} />
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, lg: 6 }} data-field="body">
        <Text fw={600} size="sm" mb={4}>
          Instructions, {bytesText(bytesOf(body))} of 64 KB
        </Text>
        <Suspense fallback={<LoadingRows />}>
          <CodeEditor value={body} onChange={onChange} language="markdown" label="Instructions in Markdown" />
        </Suspense>
        {fault && <Input.Error mt={4}>{fault}</Input.Error>}
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 6 }}>
        <Preview body={body} />
      </Grid.Col>
    </Grid>
  )
}

function SkillForm({ project, stored, onReload }: SkillFormProps) {
  const go = useNavigate()
  const kept = useDraft({
    form: 'skill',
    start: { of: project, name: '', description: stored?.description ?? '', body: stored?.body ?? '' },
    version: stored?.version,
  })
  const { of, name, description, body } = kept.value
  const set = (some: Partial<typeof kept.value>) => kept.set((now) => ({ ...now, ...some }))
  const size = bytesOf(body)
  const save = useChange(
    (version: number | undefined) =>
      stored
        ? declared.updateSkill(of!, stored.name, { description, body }, version)
        : declared.createSkill(of!, { name, description, body }),
    {
      said: (skill) => `${skill.name} is saved`,
      onDone: (skill) => {
        kept.done()
        onReload?.()
        if (!stored) void go(`/skills/${skill.name}?project=${of}`)
      },
      quiet: true,
    },
  )
  const blank = blankFaults({ project: of, ...kept.value }, [
    ...(stored ? [] : ['name', 'project']),
    'description',
    'body',
  ])
  const faults = useShownFaults({ ...fieldErrors(save.error), ...blank })
  const mark = marksOf(faults.shown)
  return (
    <form
      {...faults.form}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        faults.showAll()
        if (Object.keys(blank).length === 0) save.mutate(kept.version)
      }}
    >
      <Stack>
        <DraftRestored of={kept} />
        {!stored && (
          <Group grow align="flex-start" maw={760} preventGrowOverflow={false}>
            <TextInput
              label="Name"
              {...mark('name')}
              description="Lowercase letters, digits and dashes."
              value={name}
              onChange={(e) => set({ name: e.currentTarget.value })}
              required
              maxLength={64}
              data-autofocus
            />
            <ProjectSelect value={of} onChange={(next) => set({ of: next })} mark={mark('project')} />
          </Group>
        )}
        <Writable>
          <Textarea
            label="When it helps"
            {...mark('description')}
            description={`One paragraph: agents choose by it. ${[...description].length} of 1,024 characters.`}
            value={description}
            onChange={(e) => set({ description: e.currentTarget.value })}
            autosize
            minRows={2}
            required
            maw={760}
          />
        </Writable>
        <BodyEditor body={body} fault={mark('body').error} onChange={(next) => set({ body: next })} />
        <Refusal
          title="Couldn’t save the skill"
          error={save.error}
          faults={faults.isSubmitted ? blank : {}}
          {...(onReload ? { onTakeTheirs: takeTheirs(kept, onReload) } : {})}
          onKeepMine={() => save.mutate(undefined)}
        />
        <Group>
          <Acts says>
            <Button type="submit" loading={save.isPending} disabled={size > BODY_MAX}>
              {stored ? 'Save' : 'Add skill'}
            </Button>
          </Acts>
        </Group>
      </Stack>
    </form>
  )
}
