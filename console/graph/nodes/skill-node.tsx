/** A skill, which every agent of the project sees. */
import { GraduationCap } from 'lucide-react'
import { memo } from 'react'
import { Frame, type PartNode } from './frame.tsx'

export const SkillNode = memo(function SkillNode({ data }: PartNode) {
  return <Frame facts={data} node={data.drawn.node!} icon={GraduationCap} />
})
