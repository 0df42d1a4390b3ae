"""What a plan is made of: actions, gates, holds, and the graph of steps that they form.

`base` defines `Action`, `Gate`, `Verdict` and `Hold`; `ports` the clients that they are given;
`step` a `Step` with its `Retry` and `Stage`; `plan` the `Plan`; `secret_ref` references to secrets;
`serialization` how all of it is written as JSON and read again. The subpackages contain actions,
gates and holds by subject.
"""
