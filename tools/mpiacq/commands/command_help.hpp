// Copyright the mpiacq authors. SPDX-License-Identifier: Apache-2.0
// What --help says of each command.
#pragma once

namespace mpiacq::tool {

inline constexpr auto about =
    "Finds and takes hold of all processes of an MPI job from outside.\n"
    "The starter (mpirun, srun, mpiexec) is run or looked at as it is: no recompiling, no configuration.";

inline constexpr auto launch_about = "Runs a starter under control and reports the processes of its job";
inline constexpr auto launch_details =
    "The job's processes are reported when they have been spawned; then the job goes on. The report goes to standard\n"
    "error, so that the job's output stays its own.\n\n"
    "Examples:\n"
    "  mpiacq launch -- mpirun -n 4 ./app\n"
    "  mpiacq launch --json -o job.json --then stop -- srun -N2 -n8 ./app\n"
    "  mpiacq launch --each 'taskset -p {pid}' -- mpirun -n 4 ./app\n\n"
    "Exit status: the starter's own, 128 + N where signal N ended it; 1 where that was 0 and a command of --each "
    "failed\n"
    "or a rank's stacks could not be taken; 125 where mpiacq failed, or the starter ended well without having "
    "reported\n"
    "any processes; 126 where it cannot be run; 127 where it is not found.";

inline constexpr auto attach_about = "Takes hold of a job that runs already, and reports its processes";
inline constexpr auto attach_details =
    "PID is the starter's (mpirun, srun), or that of a rank on the starter's node, or of a script that runs the "
    "starter.\n"
    "The job is let go as it was found, unless --then says otherwise. The report goes to standard output.\n\n"
    "Examples:\n"
    "  mpiacq attach 4242\n"
    "  mpiacq attach --then stop --ranks 0-3,8 4242\n"
    "  mpiacq attach --daemon /opt/tool/daemon --daemon-arg --port=5000 4242\n"
    "  mpiacq attach --each 'gdb -batch -ex bt -p {pid}' 4242\n"
    "  mpiacq attach --core core.4242 --sysroot /mnt/node7\n\n"
    "Exit status: 0; 1 where a command of --each failed or a rank's stacks could not be taken; 125 where the job "
    "cannot be taken hold of, or has no table within --timeout; 128 + N after signal "
    "N.";

inline constexpr auto inspect_about = "Says what a program, or a running process, offers to a debugger";
inline constexpr auto inspect_details =
    "Each known symbol with its module and address, the layout of the process descriptor and where it was learnt, and\n"
    "what is missing. Nothing is run or stopped.\n\n"
    "Examples:\n"
    "  mpiacq inspect /usr/bin/mpirun\n"
    "  mpiacq inspect 4242\n\n"
    "Exit status: 0; 125 where the program cannot be read.";

inline constexpr auto types_about = "Makes the types that an MPI's message-queue library must know";
inline constexpr auto types_details =
    "Where an MPI was built without debug information, as distributions do, its message-queue library cannot read its\n"
    "data. The types are compiled out of the MPI's own headers then, held against the library, and kept in a cache\n"
    "($XDG_CACHE_HOME/mpiacq/types or ~/.cache/mpiacq/types) under its build id, where `mpiacq queues` finds them. "
    "Runs\n"
    "the MPI's compiler wrapper and a C compiler. Once for each installed MPI is enough.\n\n"
    "Examples:\n"
    "  mpiacq types openmpi\n"
    "  mpiacq types openmpi --wrapper /opt/openmpi/bin/mpicc\n"
    "  mpiacq types openmpi -o openmpi-types.so && mpiacq queues --types openmpi-types.so 4242\n\n"
    "Exit status: 0; 125 where the types cannot be had, with what to install.";

inline constexpr auto queues_about = "Shows every rank's pending messages, and who waits for whom";
inline constexpr auto queues_details =
    "The message queues of all ranks on this node are read together, by the library that their MPI brings along for\n"
    "debuggers; it runs in a process of its own. Sends and receives are brought together across ranks, and what the\n"
    "ranks are doing is looked at with them: who waits for whom, and who for ever. PID is the starter's, or that of a\n"
    "rank on its node. The ranks are stopped while they are read. The report goes to standard output.\n\n"
    "Open MPI shows its queues with the PML ob1 only (mpirun --mca pml ob1 ...). Where it comes without debug\n"
    "information, as from a distribution, 'mpiacq types openmpi' makes once what its library needs.\n\n"
    "Examples:\n"
    "  mpiacq queues 4242\n"
    "  mpiacq queues --json --ranks comm:MPI_COMM_WORLD 4242\n"
    "  mpiacq queues --types openmpi.types --library /opt/mpi/lib/libompi_dbg_msgq.so 4242\n\n"
    "Exit status: 0; 1 where a rank's queues could not be read, or not all of them; 125 where the job has no table.";

inline constexpr auto check_about = "Says clause by clause how a starter keeps to the MPIR document";
inline constexpr auto check_details =
    "The starter is run as it is, its job is watched to the end, and what was seen is held against each sentence of\n"
    "the MPIR Process Acquisition Interface 1.1, and of the MPI2DD draft where that is there, that binds an\n"
    "implementation. The job is not disturbed. The report goes to standard error, so that the job's output stays its\n"
    "own. A running starter, given by its number, is attached to for a moment; the report then goes to standard "
    "output.\n\n"
    "Examples:\n"
    "  mpiacq check -- mpirun -n 4 ./app\n"
    "  mpiacq check 4242\n"
    "  mpiacq check --json -o verdicts.json -- srun -N2 -n8 ./app\n\n"
    "Exit status: 0; 1 where a clause has failed; 125 where mpiacq failed, or the starter ended without having started "
    "a\n"
    "job; 126 where it cannot be run; 127 where it is not found.";

inline constexpr auto stacks_about = "Shows where all ranks of a job are, as one tree of calls";
inline constexpr auto stacks_details =
    "The stacks of all ranks on this node are taken together and merged: calls that ranks share are shown once, and\n"
    "part where the ranks do. PID is the starter's, or that of a rank on its node. The ranks are stopped for the\n"
    "milliseconds that it takes to look at them, the starter not at all. The report goes to standard output.\n\n"
    "Examples:\n"
    "  mpiacq stacks 4242\n"
    "  mpiacq stacks --samples 20 --interval 0.5 4242\n"
    "  mpiacq stacks --threads all --ranks 0-3 --json -o stacks.json 4242\n"
    "  mpiacq stacks --samples 100 --interval 0.01 --folded 4242 | flamegraph.pl > job.svg\n\n"
    "Exit status: 0; 1 where the stacks of a rank of this node could not be taken; 125 where mpiacq failed: there is "
    "no\n"
    "job, or its table is not complete within --timeout; 128 + N after signal N.";

inline constexpr auto graph_about = "Shows an MPI2DD job: its metadirectories, directories, worlds and spawns";
inline constexpr auto graph_details =
    "PID is any process of the job: its starter, a directory, a metadirectory, or a rank. The job is walked from "
    "there, "
    "up\n"
    "and down, through the processes of this node and, where it has others, through an agent (--agents) on each\n"
    "other; what cannot be reached or read is shown as what it is. Nothing is stopped. A core file of such a process\n"
    "will do as well. The report goes to standard output.\n\n"
    "Examples:\n"
    "  mpiacq graph 4242\n"
    "  mpiacq graph --json -o graph.json 4242\n"
    "  mpiacq graph --dot 4242 | dot -Tsvg -o job.svg\n"
    "  mpiacq graph core.4242\n\n"
    "Exit status: 0; 125 where the process cannot be looked at, or has no MPI2DD.";

}  // namespace mpiacq::tool
