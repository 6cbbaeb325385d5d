/** Know-how: skills the agents can load. */
import { Switch, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { PlanSkill } from '../../../../schemas/types.ts'
import { blankFaults, marksOf } from '../../../lib/field-errors.ts'
import { withRow } from '../../../lib/plan-edit.ts'
import { useDraft } from '../../../lib/use-draft.ts'
import { DraftRestored } from '../../../parts/draft-restored.tsx'
import { Fold } from '../../../parts/fold.tsx'
import { MarkdownText } from '../../../parts/markdown.tsx'
import type { EditedPlan } from '../use-plan.ts'
import { Card, Entry, EntryDialog, freeKey, withoutRow } from './card.tsx'

const SKILLS_MAX = 2

export function KnowHowCard({ plan, problems, edit }: EditedPlan) {
  const [open, setOpen] = useState<PlanSkill | null>(null)
  const put = (skill: PlanSkill) => edit((now) => ({ ...now, skills: withRow(now.skills, skill) }))
  return (
    <Card
      title="Know-how"
      section="skills"
      problems={problems}
      {...(plan.skills.length < SKILLS_MAX
        ? { add: { label: 'Add a skill', onAdd: () => setOpen({ ...NEW, key: freeKey('s', plan.skills) }) } }
        : {})}
      {...(plan.skills.length === 0
        ? { empty: 'None. A skill is an instruction agents load when they need it, such as a runbook.' }
        : {})}
    >
      {plan.skills.map((skill) => (
        <Entry
          key={skill.key}
          name={skill.name}
          where={`skills.${skill.key}`}
          problems={problems}
          {...(skill.existing ? { badge: 'here already' } : {})}
          sentence={skill.description}
          {...(skill.existing ? {} : { onEdit: () => setOpen(skill) })}
          onRemove={() => edit((now) => ({ ...now, skills: withoutRow(now.skills, skill.key) }))}
          control={
            <Switch
              checked={skill.enabled}
              onChange={(event) => put({ ...skill, enabled: event.currentTarget.checked })}
              aria-label={`Use ${skill.name}`}
            />
          }
        >
          {skill.body && (
            <Fold title="What it says">
              <MarkdownText text={skill.body} />
            </Fold>
          )}
        </Entry>
      ))}
      {open && (
        <SkillDialog
          skill={open}
          onClose={() => setOpen(null)}
          onKeep={(skill) => {
            put(skill)
            setOpen(null)
          }}
        />
      )}
    </Card>
  )
}

const NEW: PlanSkill = { key: '', name: '', existing: false, description: '', body: '', enabled: true }

interface DialogProps {
  skill: PlanSkill
  onClose: () => void
  onKeep: (skill: PlanSkill) => void
}

function SkillDialog({ skill: start, onClose, onKeep }: DialogProps) {
  const kept = useDraft({ form: `plan:skill:${start.key}`, start })
  const skill = kept.value
  const set = (change: Partial<PlanSkill>) => kept.set((now) => ({ ...now, ...change }))
  return (
    <EntryDialog
      title={start.name ? `Skill ${start.name}` : 'Add a skill'}
      onClose={onClose}
      onCancel={kept.discard}
      onKeep={() => {
        kept.done()
        onKeep(skill)
      }}
      missing={blankFaults(skill, ['name', 'description', 'body'])}
    >
      {(shown) => (
        <>
          <DraftRestored of={kept} />
          <TextInput
            label="Name"
            data-autofocus
            {...marksOf(shown)('name')}
            value={skill.name}
            onChange={(event) => set({ name: event.currentTarget.value })}
            maxLength={60}
            withAsterisk
          />
          <Textarea
            label="When it is needed"
            description="Agents read this to decide whether to load the skill"
            {...marksOf(shown)('description')}
            value={skill.description}
            onChange={(event) => set({ description: event.currentTarget.value })}
            maxLength={1_024}
            autosize
            withAsterisk
          />
          <Textarea
            label="What it says"
            description="Markdown"
            {...marksOf(shown)('body')}
            value={skill.body}
            onChange={(event) => set({ body: event.currentTarget.value })}
            autosize
            minRows={6}
            maxRows={20}
            classNames={{ input: 'mono' }}
            withAsterisk
          />
        </>
      )}
    </EntryDialog>
  )
}
