import { Select, TextField } from '../../component/field.tsx'

/** What a policy applies to; `runbook` counts only where it is one playbook. */
export type Scope = { readonly appliesTo: 'tenant' | 'project' | 'runbook'; readonly runbook: string }

/** The scope as it is sent. */
export function scopeBody({ appliesTo, runbook }: Scope): {
  appliesTo: Scope['appliesTo']
  runbook: string | null
} {
  return { appliesTo, runbook: appliesTo === 'runbook' ? runbook.trim() : null }
}

/** Chooses what a policy applies to. */
export function ScopeFields({ scope, onChange }: { scope: Scope; onChange: (scope: Scope) => void }) {
  return (
    <div className="mb-4 flex flex-wrap items-end gap-3">
      <div className="w-56">
        <Select
          label="Applies to"
          value={scope.appliesTo}
          onChange={(appliesTo) => onChange({ ...scope, appliesTo })}
          options={[
            { value: 'tenant', label: 'every run' },
            { value: 'project', label: 'runs of its project' },
            { value: 'runbook', label: 'one playbook' },
          ]}
        />
      </div>
      {scope.appliesTo === 'runbook' && (
        <div className="w-64">
          <TextField
            label="Playbook"
            hint="Its name or id."
            required
            value={scope.runbook}
            onChange={(event) => onChange({ ...scope, runbook: event.target.value })}
          />
        </div>
      )}
    </div>
  )
}
