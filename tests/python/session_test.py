"""InferenceSession: names, arrays of any framework without copies, sizes, threads, errors, forks."""
import os
import pathlib
import sys
import threading
import time

import numpy as np
from support import InFolder, torch_or_skip, zoo

import viridian
from viridian.arrays import lend


def export(torch, module, inputs, path, dynamic=None, names=None):
    """A module as an ONNX file, by the exporter that torch brings."""
    torch.onnx.export(module.eval(), inputs, path, input_names=names or ["x", "y"][:len(inputs)], output_names=["out"],
                      dynamic_axes=dynamic, do_constant_folding=False)
    return path


def peak_memory(restart=True):
    """The largest resident memory in bytes, from here on if `restart`."""
    if restart:
        pathlib.Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    status = pathlib.Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


class Session(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.net = zoo("squeezenet1_1", str(cls.folder / "net.onnx"))
        cls.session = viridian.InferenceSession(cls.net, threads=1)
        cls.feed = np.random.default_rng(1).standard_normal((1, 3, 224, 224), np.float32)
        cls.name = cls.session.get_inputs()[0].name

    def run_once(self, x):
        return self.session.run(None, {self.name: x})[0]

    def test_names_are_those_of_onnx_runtime(self):
        one, = self.session.get_inputs()
        self.assertEqual((one.type, one.shape), ("tensor(float)", [1, 3, 224, 224]))
        out, = self.session.get_outputs()
        self.assertEqual(out.shape, [1, 1000])
        self.assertEqual(self.session.get_providers(), ["CPUExecutionProvider"])
        y, = self.session.run([out.name], {self.name: self.feed})
        self.assertEqual((y.dtype, y.shape), (np.float32, (1, 1000)))
        options = viridian.SessionOptions()
        options.intra_op_num_threads = 1
        again = viridian.InferenceSession(self.net, options, providers=["CUDAExecutionProvider", "CPUExecutionProvider"])
        self.assertEqual(again.threads, 1)
        np.testing.assert_array_equal(again.run(None, {self.name: self.feed})[0], y)

    def test_bytes_are_a_model(self):
        with open(self.net, "rb") as file:
            session = viridian.InferenceSession(file.read(), threads=1)
        np.testing.assert_array_equal(session.run(None, {self.name: self.feed})[0], self.run_once(self.feed))

    def test_layouts_that_are_not_row_major_are_read_right(self):
        wanted = self.run_once(self.feed)
        np.testing.assert_array_equal(self.run_once(np.asfortranarray(self.feed)), wanted)
        wide = np.zeros((1, 3, 224, 448), np.float32)
        wide[..., ::2] = self.feed
        np.testing.assert_array_equal(self.run_once(wide[..., ::2]), wanted)
        shifted = np.frombuffer(b"\0" + self.feed.tobytes(), np.uint8)[1:].view(np.float32).reshape(self.feed.shape)
        self.assertNotEqual(shifted.ctypes.data % 4, 0)
        np.testing.assert_array_equal(self.run_once(shifted), wanted)
        frozen = self.feed.copy()
        frozen.flags.writeable = False
        np.testing.assert_array_equal(self.run_once(frozen), wanted)

    def test_outputs_own_their_memory(self):
        first = self.run_once(self.feed)
        kept = first.copy()
        second = self.run_once(-self.feed)
        self.assertTrue((first == kept).all() and first.flags.writeable)
        self.assertFalse(np.shares_memory(first, second))
        self.assertFalse((first == second).all())

    def test_eight_threads_get_their_own_results(self):
        inputs = [self.feed * (i + 1) for i in range(8)]
        wanted = [self.run_once(x) for x in inputs]
        wrong, begin = [], threading.Barrier(8)

        def work(i):
            begin.wait()
            for _ in range(12):
                if not (self.run_once(inputs[i]) == wanted[i]).all():
                    wrong.append(i)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.assertEqual(wrong, [])

    def test_a_binding_runs_on_the_same_memory(self):
        binding, x = self.session.io_binding(), self.feed.copy()
        binding.bind_cpu_input(self.name, x)
        shown, = binding.get_outputs()
        for factor in (1, -1):
            x[:] = factor * self.feed  # where it lies
            self.session.run_with_iobinding(binding)
            np.testing.assert_array_equal(shown, self.run_once(x))
            self.assertTrue(np.shares_memory(shown, binding.get_outputs()[0]))
        copy, = binding.copy_outputs_to_cpu()
        self.assertFalse(np.shares_memory(shown, copy))
        del binding
        np.testing.assert_array_equal(shown, copy)  # outputs keep their memory
        out, = self.session.get_outputs()
        again = self.session.io_binding()
        again.bind_cpu_input(self.name, -x)
        again.bind_output(out.name)
        self.session.run_with_iobinding(again)
        self.assertEqual(len(again.get_outputs()), 1)
        again.bind_cpu_input(self.name, x)  # another array in its place
        self.session.run_with_iobinding(again)
        np.testing.assert_array_equal(again.get_outputs()[0], copy)

    def test_a_binding_refuses_what_it_cannot_read_in_place(self):
        binding = self.session.io_binding()
        for bind, message in ((lambda: binding.get_outputs(), "no array is bound to the input"),
                              (lambda: binding.bind_cpu_input("wrong", self.feed), "there is no input `wrong`"),
                              (lambda: binding.bind_output("nothing"), "there is no output `nothing`"),
                              (lambda: binding.bind_output(self.session.get_outputs()[0].name, "cuda"), "cannot be on `cuda`")):
            with self.assertRaisesRegex(viridian.InputError, message):
                bind()
        for array, message in ((self.feed.transpose(0, 1, 3, 2), "not row-major"), (self.feed[..., :7], "shape"),
                               (self.feed.astype(np.float64), "is float64")):
            binding.bind_cpu_input(self.name, array)
            with self.assertRaisesRegex(viridian.InputError, message):
                self.session.run_with_iobinding(binding)

    def test_other_threads_run_meanwhile(self):
        """The interpreter's lock is free while the library computes: a thread that counts goes on counting. The interpreter
        takes the lock from nobody here, because its switch interval is longer than the test."""
        counted, stop = [0], threading.Event()

        def count():
            while not stop.is_set():
                counted[0] += 1
                time.sleep(0)  # gives the lock back

        thread, interval = threading.Thread(target=count), sys.getswitchinterval()
        sys.setswitchinterval(100)
        try:
            thread.start()
            before = counted[0]
            _ = [self.run_once(self.feed) for _ in range(30)]
            self.assertGreater(counted[0] - before, 100)
        finally:
            stop.set()
            sys.setswitchinterval(interval)
            thread.join()

    def test_a_forked_child_runs_the_model(self):
        wanted = self.run_once(self.feed)
        child = os.fork()
        if child == 0:
            os._exit(0 if (self.run_once(self.feed) == wanted).all() else 1)
        _, status = os.waitpid(child, 0)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        np.testing.assert_array_equal(self.run_once(self.feed), wanted)

    def test_errors_say_the_next_step(self):
        for feed, message, step in (({self.name: self.feed.astype(np.float64)}, "is float64, and the model takes float32", "astype"),
                                    ({self.name: self.feed[..., :7]}, r"shape \[1, 3, 224, 7\]", "dims"),
                                    ({"wrong": self.feed}, "there is no input `wrong`", self.name),
                                    ({}, "the feed lacks", self.name),
                                    ({self.name: object()}, "no tensor in host memory", "NumPy")):
            with self.assertRaisesRegex(viridian.InputError, message) as caught:
                self.session.run(None, feed)
            self.assertIn(step, caught.exception.next_step)
            self.assertIsInstance(caught.exception, ValueError)
        with self.assertRaisesRegex(viridian.InputError, "there is no output `nothing`"):
            self.session.run(["nothing"], {self.name: self.feed})
        with self.assertRaises(viridian.InputError) as caught:
            viridian.InferenceSession(self.path("none.onnx"))
        self.assertEqual(caught.exception.code, "file_not_found")
        with self.assertRaisesRegex(viridian.InputError, "CUDAExecutionProvider"):
            viridian.InferenceSession(self.net, providers=["CUDAExecutionProvider"])


class WithTorch(InFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.torch = torch_or_skip()

    def test_sizes_are_bound_by_the_inputs(self):
        torch = self.torch
        net = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.ReLU())
        path = export(torch, net, (torch.randn(2, 6),), self.path("free.onnx"), {"x": {0: "batch"}, "out": {0: "batch"}})
        session = viridian.InferenceSession(path, threads=1, sizes=2)
        self.assertEqual(session.get_inputs()[0].shape, ["batch", 6])
        for batch in (1, 3, 2, 3, 7):
            x = torch.randn(batch, 6)
            np.testing.assert_allclose(session.run(None, {"x": x})[0], net(x).detach().numpy(), rtol=1e-5, atol=1e-6)
        bound = viridian.InferenceSession(path, threads=1, dims={"batch": 4})
        self.assertEqual(bound.get_inputs()[0].shape, [4, 6])
        with self.assertRaisesRegex(viridian.InputError, r"shape \[1, 6\], and the model takes \[4, 6\]"):
            bound.run(None, {"x": np.zeros((1, 6), np.float32)})

    def test_new_sizes_need_the_file_that_was_opened(self):
        torch = self.torch
        net, other = torch.nn.Linear(6, 5), torch.nn.Linear(6, 5)
        free = {"x": {0: "batch"}, "out": {0: "batch"}}
        path = export(torch, net, (torch.randn(2, 6),), self.path("first.onnx"), free)
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            session = viridian.InferenceSession("first.onnx", threads=1)
            os.chdir("/")
            x = torch.randn(3, 6)
            wanted = net(x).detach().numpy()
            np.testing.assert_allclose(session.run(None, {"x": x})[0], wanted, rtol=1e-5, atol=1e-6)
        finally:
            os.chdir(before)
        export(torch, other, (torch.randn(2, 6),), path, free)
        np.testing.assert_allclose(session.run(None, {"x": x})[0], wanted, rtol=1e-5, atol=1e-6)  # these sizes are ready
        with self.assertRaisesRegex(viridian.InputError, "first.onnx` has changed since the session opened it"):
            session.run(None, {"x": torch.randn(4, 6)})
        os.remove(path)
        with self.assertRaisesRegex(viridian.InputError, "first.onnx` cannot be read again"):
            session.run(None, {"x": torch.randn(4, 6)})
        np.testing.assert_allclose(session.run(None, {"x": x})[0], wanted, rtol=1e-5, atol=1e-6)

    def test_lists_become_the_element_type_of_the_model(self):
        torch = self.torch

        class Twice(torch.nn.Module):
            def forward(self, x):
                return x.to(torch.float32) * 2

        for kind, name in ((torch.int8, "tensor(int8)"), (torch.uint8, "tensor(uint8)"), (torch.float32, "tensor(float)"),
                           (torch.int64, "tensor(int64)")):
            path = export(torch, Twice(), (torch.ones(2, 3).to(kind),), self.path("twice.onnx"), {"x": {0: "n"}, "out": {0: "n"}})
            session = viridian.InferenceSession(path, threads=1)
            self.assertEqual((session.get_inputs()[0].type, session.get_inputs()[0].shape), (name, ["n", 3]))
            bound = viridian.InferenceSession(path, threads=1, dims={"n": 1})
            self.assertEqual(bound.get_inputs()[0].type, name)
            for given in ([[1, 2, 3]], torch.tensor([[1, 2, 3]]).to(kind), torch.tensor([[1, 2, 3]]).to(kind).numpy()):
                for one in (session, bound):
                    np.testing.assert_array_equal(one.run(None, {"x": given})[0], [[2, 4, 6]])
            np.testing.assert_array_equal(session.run(None, {"x": ((1, 1, 0), (0, 5, 1))})[0], [[2, 2, 0], [0, 10, 2]])

    def test_lists_are_rounded_to_bfloat16(self):
        numbers = [1.0, -2.5, 1.00390625, 1.01171875, 3.0e38, float("inf"), 0.1]
        bits = lend(numbers, "bfloat16")
        self.assertEqual(lend(float("nan"), "bfloat16") & 0x7FC0, 0x7FC0)
        wanted = self.torch.tensor(numbers).to(self.torch.bfloat16).view(self.torch.int16).numpy().view(np.uint16)
        np.testing.assert_array_equal(bits, wanted)

    def test_tensors_of_torch_go_in(self):
        torch = self.torch

        class Mix(torch.nn.Module):
            def forward(self, x, y):
                return torch.where(y, x, -x)

        path = export(torch, Mix(), (torch.randn(2, 3), torch.ones(2, 3, dtype=torch.bool)), self.path("mix.onnx"))
        session = viridian.InferenceSession(path, threads=1)
        x, y = torch.randn(2, 3, requires_grad=True), torch.rand(2, 3) > 0.5
        np.testing.assert_array_equal(session.run(None, {"x": x, "y": y})[0], torch.where(y, x, -x).detach().numpy())

    def test_no_copy_is_made_of_the_input(self):
        """An input of 512 MiB raises the peak of memory by much less than itself."""
        torch = self.torch

        class Corner(torch.nn.Module):
            def forward(self, x):
                return x[:1, :4] * 2

        shape = (8192, 16384)
        path = export(torch, Corner(), (torch.zeros(shape),), self.path("corner.onnx"))
        session = viridian.InferenceSession(path, threads=1, memory="3GiB")
        x = np.ones(shape, np.float32)
        grown = {}
        for name, given in (("numpy", x), ("torch", torch.from_numpy(x)), ("columns first", np.asfortranarray(x))):
            before = peak_memory()
            np.testing.assert_array_equal(session.run(None, {"x": given})[0], [[2, 2, 2, 2]])
            grown[name] = (peak_memory(restart=False) - before) / 2**20
        self.assertLess(grown["numpy"], 128, "MiB")
        self.assertLess(grown["torch"], 128, "MiB")
        self.assertGreater(grown["columns first"], 400, "this one has to be copied, or the test sees nothing")
