import { Checkbox, Select, TextArea, TextField } from '../../component/field.tsx'
import { fieldsOf, type FieldValues, type InputField } from './read-fields.ts'

type Props = {
  schema: Readonly<Record<string, unknown>>
  values: FieldValues
  problems: Readonly<Record<string, string>>
  onChange: (values: FieldValues) => void
}

/** A form made of the inputs that a playbook declares. */
export function InputFields({ schema, values, problems, onChange }: Props) {
  const fields = fieldsOf(schema)
  if (fields.length === 0) return <p className="text-sm text-muted">This playbook takes no inputs.</p>
  return fields.map((field) => (
    <OneField
      key={field.name}
      field={field}
      value={values[field.name] ?? field.initial}
      error={problems[field.name]}
      onChange={(value) => onChange({ ...values, [field.name]: value })}
    />
  ))
}

function OneField({
  field,
  value,
  error,
  onChange,
}: {
  field: InputField
  value: string
  error: string | undefined
  onChange: (value: string) => void
}) {
  const label = field.required ? `${field.name} *` : field.name
  const around = { label, error, ...(field.description === '' ? {} : { hint: field.description }) }
  if (field.kind === 'boolean')
    return (
      <Checkbox
        label={field.name}
        {...(field.description === '' ? {} : { hint: field.description })}
        checked={value === 'true'}
        onChange={(event) => onChange(String(event.target.checked))}
      />
    )
  if (field.kind === 'choice')
    return (
      <Select
        {...around}
        value={value}
        onChange={onChange}
        options={[{ value: '', label: '–' }, ...field.choices.map((each) => ({ value: each, label: each }))]}
      />
    )
  if (field.kind === 'json')
    return (
      <TextArea
        {...around}
        value={value}
        className="font-mono"
        onChange={(event) => onChange(event.target.value)}
      />
    )
  return (
    <TextField
      {...around}
      value={value}
      inputMode={field.kind === 'text' ? 'text' : 'decimal'}
      autoComplete="off"
      onChange={(event) => onChange(event.target.value)}
    />
  )
}
