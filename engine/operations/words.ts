/** How a wide operation that takes too long is made smaller. */

export const PLAN_ADVICE = 'compare fewer objects at once'
export const SCENARIO_ADVICE = 'make it with svc evals new, which reads in pages'
